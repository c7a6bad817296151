import type { EnginePool } from '../engine-pool.js';
import type { Statements } from '../dialects/postgres/statements/index.js';

/** What all parts of the PostgreSQL store share. */
export interface StoreContext {
  readonly pool: EnginePool;
  readonly statements: Statements;
  /** See `WorkflowStore.clockOffsetMs`. */
  readonly clock: { offsetMs: number };
}
