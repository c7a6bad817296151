import type { Duration } from '../engine/time/duration.js';
import type { SubjectName } from '../engine/ports/step-store.js';
import type { TransactionManager } from './run-handle.js';

/**
 * A column of an entity with `@WorkflowSubject` that nodes of type `transition` move: which state may follow which.
 *
 * @publicApi
 */
export interface SubjectLifecycle {
  /** The states that may follow a state; one that is missing, or followed by none, is final. */
  readonly transitions: Readonly<Record<string, readonly string[]>>;
  /** The column that holds the state. @default the name of the lifecycle */
  readonly field?: string;
  /**
   * An entity that gets a row for each move, in its transaction: its columns `subjectId`, `from` and `to`, and of `subjectType`, `lifecycle`,
   * `actor`, `reason` and `runId` those that it has. @default none
   */
  readonly history?: Function;
}

/**
 * Moves and changes subjects by the host's own rules: a provider's class, or an object, under `subjects.lifecycles` of the module.
 *
 * Called in a transaction of the DataSource that the engine was given: what is written with `manager` commits together with the
 * node, once, or not at all. Called again after a crash, a deadlock, a retry: do nothing else in it.
 *
 * @publicApi
 */
export interface LifecycleAdapter {
  /** @returns what came of it; what it throws fails the attempt */
  transition(request: TransitionRequest, manager: TransactionManager): TransitionAnswer | Promise<TransitionAnswer>;
  /** For nodes of type `set_field`. Without it they fail `FIELD_NOT_WRITABLE`. */
  setField?(request: SetFieldRequest, manager: TransactionManager): unknown;
}

/** Who asks for a change of a subject, and of which. */
export interface SubjectChange {
  readonly subject: SubjectName;
  /** Stored id of the run's owner; null = nobody. */
  readonly ownerId: string | null;
  /** As whom the run acts. */
  readonly actor: unknown;
  readonly runId: string;
}

export interface TransitionRequest extends SubjectChange {
  readonly to: string;
  /** As the node says; null = the only one. */
  readonly lifecycle: string | null;
  readonly reason: string | null;
}

export interface SetFieldRequest extends SubjectChange {
  /** Names joined by dots: `priority`, `address.city`. */
  readonly field: string;
  /** JSON. */
  readonly value: unknown;
}

/** What came of a transition. */
export type TransitionAnswer =
  | { readonly result: 'applied'; readonly from: string }
  /** It had been moved there before: nothing was done. */
  | { readonly result: 'already-there' }
  /** For good: the node fails TRANSITION_DENIED, or goes on by its edge `denied`. */
  | { readonly result: 'denied'; readonly reason?: string }
  /** Not now: the node is tried again as its `retry` says, not before `after`. */
  | { readonly result: 'retry-later'; readonly after?: Duration; readonly reason?: string };
