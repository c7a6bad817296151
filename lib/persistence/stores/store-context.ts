import type { EnginePool } from '../engine-pool.js';
import type { OwnerSessions } from '../row-level-security/owner-sessions.js';
import type { Statements } from '../dialects/postgres/statements/index.js';

/** What all parts of the PostgreSQL store share. */
export interface StoreContext {
  /** For what the engine does, over all owners. */
  readonly pool: EnginePool;
  /** For what is asked for within a scope, or written for an owner. */
  readonly sessions: OwnerSessions;
  readonly statements: Statements;
  /** See `WorkflowStore.clockOffsetMs`. */
  readonly clock: { offsetMs: number };
}
