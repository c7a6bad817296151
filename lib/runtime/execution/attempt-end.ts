import type { StageOutcome } from '../../engine/state/rows.js';

/** How an attempt ended in this process: with an outcome to record, or with nothing that may be recorded. */
export type AttemptEnd =
  | StageOutcome
  /** The run ended, or another worker holds the stage: whatever the body came to is dropped (CANCEL-2, LEASE-5). */
  | { readonly kind: 'discarded'; readonly because: 'cancelled' | 'lease-lost' };
