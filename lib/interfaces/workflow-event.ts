import type { SubjectName } from '../engine/ports/step-store.js';
import type { EngineEventType } from '../engine/state/rows.js';

/** What is told of runs and stages, by name. */
export type WorkflowEventType = EngineEventType;

/** What each event carries as `data`. Instants are ISO 8601. */
export interface WorkflowEventData {
  'run:started': EventData;
  'run:completed': EventData;
  'run:failed': EventData & { readonly code: string; readonly message: string; readonly node: string | null };
  'run:cancelled': EventData & { readonly reason: string | null };
  /** By hand, `node` being the stage that had failed; or, with `rerun`, the node that it goes on from. */
  'run:retried': EventData & { readonly node: string; readonly rerun?: true; readonly generation?: number };
  'stage:started': EventData;
  'stage:completed': EventData;
  'stage:suspended': EventData;
  'stage:skipped': EventData;
  'stage:retrying': EventData & { readonly attempt: number; readonly nextAt: string; readonly willRetry: true };
  'stage:failed': EventData & { readonly willRetry: false };
}

/** Open: a later version may add to it. */
export type EventData = Readonly<Record<string, unknown>>;

/**
 * What `@OnWorkflowEvent` methods are given. Told after commit, at least once, in order per run: `id` is the same each
 * time, so a handler that must not do a thing twice remembers it.
 *
 * @typeParam T one name, or a union of them; narrow on `event.type`.
 */
export type WorkflowEvent<T extends WorkflowEventType = WorkflowEventType> = { [K in T]: WorkflowEventOf<K> }[T];

export interface WorkflowEventOf<T extends WorkflowEventType> {
  readonly id: string;
  readonly type: T;
  readonly run: { readonly id: string; readonly definition: string; readonly version: number };
  /** The stage run it is about; only on `stage:*` events. */
  readonly stage: T extends `stage:${string}` ? StageRunRef : undefined;
  /** Who the run belongs to: the stored id. */
  readonly owner: string | null;
  /** What the run is about, or null. */
  readonly subject: SubjectName | null;
  /** Who started the run. */
  readonly actor: unknown;
  /** On whose behalf it acts: `actor`, or the system actor. */
  readonly runAs: unknown;
  /** When it was written, on the database's clock. */
  readonly at: Date;
  readonly data: WorkflowEventData[T];
}

export interface StageRunRef {
  /** Id of the stage run. */
  readonly runId: string;
  readonly key: string;
  /** The id given to `@Stage`. */
  readonly stage: string;
}
