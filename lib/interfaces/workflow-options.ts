import type { Scope } from '@nestjs/common';
import type { RetryPolicy } from '../engine/retry/retry-policy.js';
import type { Duration } from '../engine/time/duration.js';
import type { Schema } from './stage-schemas.js';

/** What `@Workflow` takes. */
export interface WorkflowOptions<I extends Schema = Schema> {
  /** Names the definition in the database, for ever. */
  readonly id: string;
  /** A positive integer. A changed structure needs a new one; versions live side by side (DEF-4, VER-1). */
  readonly version: number;
  /** Checks what `start` is given, and parses the stored input when the first stage reads it. */
  readonly input: I;
  /** Instead of the stages' policies, whole; a node's goes before it (RETRY-1). */
  readonly retry?: RetryPolicy;
  /** A definition may only lower the module's limits. */
  readonly limits?: DefinitionLimits;
  /** On whose behalf runs act: the system, or whoever started them. @default 'system' */
  readonly actor?: 'system' | 'on_behalf_of';
  /** How long after its start a run fails RUN_TIMEOUT. Milliseconds, or as in `'2 h'`. @default never */
  readonly deadline?: Duration;
  /** Queue of the stages that name none. @default `queue.default` */
  readonly queue?: string;
  /** Scope of the provider. What Nest's own `@Injectable` said stays when this is left out. */
  readonly scope?: Scope;
}

export interface DefinitionLimits {
  /** Most stage runs of one run (LIMIT-1). @default the module's, 200 */
  readonly maxStageRuns?: number;
  /** Most starts a minute, over all processes (LIMIT-3). @default the module's, none */
  readonly startsPerMinute?: number;
}
