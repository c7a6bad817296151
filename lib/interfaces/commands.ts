import type { SubjectName } from '../engine/ports/step-store.js';
import type { TransactionManager } from './run-handle.js';

export interface SignalOptions {
  /**
   * The sender's own id of this message: sending it to the same run again is a no-op. Only its digest is stored.
   * @default each call counts
   */
  messageId?: string;
  /** Why: kept in the audit, told to whoever is asked whether it is allowed. Cut after 1,000 characters. */
  reason?: string;
  /** Sends inside this open transaction: rolled back, nothing was sent. */
  manager?: TransactionManager;
}

/**
 * What became of a signal: a wait got it; or it is kept for the next wait of its name; or this message was sent before.
 */
export interface SignalResult {
  readonly status: 'delivered' | 'stored' | 'duplicate';
}

/** Something that happened, told to every run of its owner that waits for it (`ctx.step.waitForEvent`). */
export interface EmitEvent {
  /** What happened, as waits name it: `'payment.received'`. */
  key: string;
  /** JSON of at most `limits.maxOutputBytes`: what `where` is asked of, and what the wait gives. @default null */
  payload?: unknown;
  /** What it is about. Waits that name a subject hear only of that one. @default null */
  subject?: SubjectName;
  /** The sender's own id of this event: emitting it again is a no-op. Only its digest is stored. @default each call counts */
  messageId?: string;
  /** Whose runs hear of it; null = runs of nobody. @default what `owners.resolve` says, else null */
  owner?: string | null;
  /** Emits inside this open transaction: rolled back, nothing happened. Waits hear of it once it has committed. */
  manager?: TransactionManager;
}

export interface EmitResult {
  /** Id of the event; null of a duplicate, which has none of its own. */
  readonly eventId: string | null;
  /** `true`: this message was emitted before, so nothing was stored. */
  readonly duplicate: boolean;
}

export interface RerunOptions {
  /** The same key for the same run and node reruns it once. Only its digest is stored. @default each call counts */
  idempotencyKey?: string;
  /** Why: kept in the audit, told to whoever is asked whether it is allowed. Cut after 1,000 characters. */
  reason?: string;
  /** Takes part in this open transaction: rolled back, the run stays as it ended. READ COMMITTED only. */
  manager?: TransactionManager;
}

export interface RerunResult {
  /** The generation that the run is in now: 1, and one more with every rerun. */
  readonly generation: number;
  /** `true`: a call with the same idempotency key had rerun it, so this one did nothing. */
  readonly duplicate: boolean;
}

export interface TouchOptions {
  /** Whose runs look again; null = runs of nobody. @default what `owners.resolve` says, else null */
  owner?: string | null;
  /** Takes part in this open transaction: polls look again once it has committed. READ COMMITTED only. */
  manager?: TransactionManager;
}

export interface TouchResult {
  /** How many polls that waited look again; those of stages that run now look again by themselves. */
  readonly polls: number;
}
