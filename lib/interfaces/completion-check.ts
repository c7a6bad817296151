import type { Duration } from '../engine/time/duration.js';

/**
 * What `checkCompletion(state, ctx)` answers: the stage is done, not yet, or failed for good (WAIT-6).
 *
 * @typeParam O what the body of the stage would return: its output schema parses it before it is stored.
 */
export type CompletionCheck<O = unknown> =
  | { readonly status: 'ready'; readonly output: O }
  | {
      readonly status: 'pending';
      /** When to ask next, from now. @default `every`, as given to `ctx.suspend` */
      readonly next?: Duration;
      /** Replaces what the next check is given; JSON. @default it stays */
      readonly state?: unknown;
    }
  | {
      readonly status: 'failed';
      /** The run's failure code. @default STAGE_FAILED */
      readonly code?: string;
      readonly message: string;
    };
