import type { Scope } from '@nestjs/common';
import type { RetryPolicy } from '../engine/retry/retry-policy.js';
import type { Duration } from '../engine/time/duration.js';
import type { StageSchemas } from './stage-schemas.js';

/** What `@Stage` takes. */
export interface StageOptions extends StageSchemas {
  /** Names the type in the database, for ever: never derived from the class name, which a minifier changes. */
  readonly id: string;
  /** Instead of the module's policy, whole; the workflow's and the node's go before it (RETRY-1). */
  readonly retry?: RetryPolicy;
  /** Most running time of one attempt; past it the attempt fails STAGE_TIMEOUT and is retried. Milliseconds, or as in `'5m'`. @default none but the lease's */
  readonly timeout?: Duration;
  /** What the authorizer is asked for before the body runs. @default null */
  readonly ability?: string;
  /** Where its jobs go. @default the run's, else the definition's, else `queue.default` */
  readonly queue?: string;
  /** `false`: the body touches nothing outside the database, so the authorizer need not be asked. @default true */
  readonly sideEffect?: boolean;
  /**
   * What it may end with, for `ctx.outcome(name, output)`: in a graph each leads on by an edge of its own. Include `done` where the body
   * may also simply return. @default ['done']
   */
  readonly outcomes?: readonly string[];
  /** Scope of the provider. What Nest's own `@Injectable` said stays when this is left out. */
  readonly scope?: Scope;
}
