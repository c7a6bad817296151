import type { StageOutcome } from '../../engine/state/rows.js';
import type { Suspension } from '../../engine/steps/index.js';
import type { RecordEntry, RecordResult } from '../worker/record-item.js';

/** An outcome that was written with what the host writes, and what became of it. */
export interface RecordedWithin {
  readonly entry: RecordEntry;
  readonly result: RecordResult;
}

/** How an attempt ended in this process: with an outcome to record, or with nothing that may be recorded. */
export type AttemptEnd =
  | StageOutcome
  /** Its outcome was written already, or is known to be void, within a transaction of the host's (TX-3). */
  | ({ readonly kind: 'recorded' } & RecordedWithin)
  /** It waits. */
  | { readonly kind: 'suspended'; readonly suspension: Suspension }
  /** The store said that the attempt is over; whether by the run's end or by another worker has to be asked. */
  | { readonly kind: 'unfenced' }
  /** A test let its process die: nothing is recorded, its leases end by themselves. */
  | { readonly kind: 'crashed' }
  /** The run ended, or another worker holds the stage: whatever the body came to is dropped (CANCEL-2, LEASE-5). */
  | { readonly kind: 'discarded'; readonly because: 'cancelled' | 'lease-lost' };
