import type { SubjectName } from '../engine/ports/step-store.js';
import type { Duration } from '../engine/time/duration.js';

declare const runOutput: unique symbol;

/** A run by its id, knowing in types what it yields: `result(run)` infers the output. Plain data, safe to serialise. */
export interface RunHandle<O = unknown> {
  readonly id: string;
  /** Never present: carries the type. */
  readonly [runOutput]?: O;
}

/** The transaction of the host that a call takes part in: an `EntityManager` of an open one, told by its shape. */
export interface TransactionManager {
  query(sql: string, parameters?: any[]): Promise<any>;
  readonly queryRunner?: unknown;
}

export interface StartOptions {
  /**
   * The same key for the same definition and owner returns the first run, `created: false`. Kept for `idempotency.ttl`
   * (30 days). Only its digest is stored.
   */
  idempotencyKey?: string;
  /** How long after now the first stage may begin. Milliseconds, or as in `'5m'`. Not together with `startAt`. @default 0 */
  delay?: Duration;
  /** When the first stage may begin, on the database's clock; past = at once. Not together with `delay`. */
  startAt?: Date;
  /** Higher first. An integer. @default 0 */
  priority?: number;
  /** Queue of every stage of this run that names none of its own. @default the definition's, else the module's */
  queue?: string;
  /** Who the run belongs to; null = nobody. @default what `owners.resolve` says, else null */
  owner?: string | null;
  /**
   * The business entity that the run is about: bodies get it by `ctx.subject()`, policies as `subject`, `list({ subject })` finds
   * the run by it, `touch(subject)` lets its polls look again. @default nothing; of a child its parent's
   */
  subject?: SubjectName;
  /** Who starts it: JSON, kept with the run. @default null */
  actor?: unknown;
  /**
   * Starts inside this open transaction: rolled back, there is no run. The DataSource's own manager is refused, it has none.
   */
  manager?: TransactionManager;
}

export interface StartResult<O = unknown> {
  readonly run: RunHandle<O>;
  /** `false`: a start with the same idempotency key had made the run, or it was refused. */
  readonly created: boolean;
  /** `true`: a start limit refused the run; it exists, FAILED. */
  readonly refused?: boolean;
}
