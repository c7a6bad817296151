import type { StageOutcome } from '../../engine/state/rows.js';

/** How a claimed job, and whatever its slot went on with, ended. */
export interface JobEnd {
  /** Of the last stage. */
  readonly end: StageEnd;
  /** How many stages were run. */
  readonly stages: number;
}

export type StageEnd =
  | { readonly kind: 'recorded'; readonly outcome: StageOutcome['kind'] | 'suspended' }
  /** A cancel hook was called, or put off. */
  | { readonly kind: 'hook' }
  /** This build does not serve its definition: put off. */
  | { readonly kind: 'unserved' }
  /** Its run had ended. */
  | { readonly kind: 'cancelled' }
  /** Another worker holds it. */
  | { readonly kind: 'lost' }
  /** Not recorded: the process ends, or the store refused. */
  | { readonly kind: 'given-up' };
