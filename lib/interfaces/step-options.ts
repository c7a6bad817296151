import type { SubjectName } from '../engine/ports/step-store.js';
import type { RetryPolicy } from '../engine/retry/retry-policy.js';
import type { Duration } from '../engine/time/duration.js';
import type { Schema } from './stage-schemas.js';

/** What the body of a step is given. */
export interface StepBodyContext {
  /** The stage's: aborts when the attempt is over before the body is. Its `reason` is a `StageAbortedError`. */
  readonly abortSignal: AbortSignal;
  /** Number of this try of the step, from 1. */
  readonly attempt: number;
  /** The same for every try of this step, and different for every other one: hand it to whatever takes such a key. */
  readonly idempotencyKey: string;
}

export interface StepRunOptions {
  /** Tries in place, before the stage's own retry. What is left out is as in the module's default. @default no retry */
  retry?: RetryPolicy;
  /**
   * How long the body's lease lives after its holder was last heard of; until then nobody else begins it. Milliseconds, or
   * as in `'5m'`. @default '5m'
   */
  leaseFor?: Duration;
}

export interface TransactionOptions {
  /** Tries in place, each in a transaction of its own, before the stage's own retry. @default no retry */
  retry?: RetryPolicy;
}

export interface StepAllOptions {
  /** Most items at work at once. An integer from 1 on. @default all of them */
  concurrency?: number;
}

/** A wait that throws `WaitTimeoutError` (`WAIT_TIMEOUT`) when its time is over. */
export interface ThrowOnTimeout {
  /** Most time from when it is first awaited; a restart does not begin it anew. @default none */
  timeout?: Duration;
  onTimeout?: 'throw';
}

/** A wait that tells of its timeout instead of throwing. */
export interface ReturnOnTimeout {
  /** Most time from when it is first awaited; a restart does not begin it anew. */
  timeout: Duration;
  onTimeout: 'return';
}

/** How a wait with `onTimeout: 'return'` ended. */
export type TimedResult<T> = { readonly timedOut: false; readonly value: T } | { readonly timedOut: true };

export interface PollOptions {
  /** How long after one poll the next is due. Milliseconds, or as in `'5m'`. */
  every: Duration;
}

export interface EventWaitOptions<S extends Schema = Schema> {
  /** The key that `WorkflowService.emit` names. */
  key: string;
  /** Only events about this subject. @default events about any, and about none */
  subject?: SubjectName;
  /**
   * Only events on whose payload this CEL expression is true: `event` is the payload, as in
   * `event.amount > 1000 && event.currency == "EUR"`. A payload it cannot be asked of (a missing field) is no match;
   * `has(event.currency)` asks whether a field is there. At most 2,000 characters; without `matches`, `split` and `join`.
   */
  where?: string;
  /** Parses the payload each time the body meets it; no asynchronous one. Without it the payload is unknown. */
  schema?: S;
}

export interface SignalWaitOptions<S extends Schema = Schema> {
  /** The name that `WorkflowService.signal` sends. @default the step's name */
  signal?: string;
  /** Parses the payload each time the body meets it; no asynchronous one. Without it the payload is unknown. */
  schema?: S;
}

export interface ChildOptions {
  /** Of the workflow. @default the highest one served */
  version?: number;
  /** Queue of the child's stages that name none. @default the child's definition's, else the module's */
  queue?: string;
  /** Higher first. An integer. @default the parent's */
  priority?: number;
  /** What the child is about; null = nothing. @default what the parent is about */
  subject?: SubjectName | null;
}

/** The parent waits: the step ends with the child, and whatever ends the parent cancels the child (CANCEL-3). */
export interface WaitForChild extends ChildOptions {
  wait?: true;
}

/** The parent goes on once the child is started, and neither hears of it again nor ends it. */
export interface DetachChild extends ChildOptions {
  wait: false;
}
