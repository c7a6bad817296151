import type { Duration } from '../engine/time/duration.js';

declare const suspended: unique symbol;

/** What `ctx.suspend(options)` returns. Must be returned from `execute`; followers never see it. */
export interface Suspended {
  readonly [suspended]: true;
}

export interface SuspendOptions {
  /** How long until `checkCompletion` is asked, and again after each "pending". Milliseconds, or as in `'5m'`. */
  every: Duration;
  /** Most time until it is ready; past it the stage fails WAIT_TIMEOUT. @default none */
  maxWait?: Duration;
  /** What `checkCompletion` is given; JSON. @default null */
  state?: unknown;
}
