import type { TableNames } from '../table-names.js';

/**
 * One step of the engine's schema. Additive only (OPS-3): what an older process of a rolling deploy reads and writes stays
 * as it is, so a queue never needs to be drained. A released step never changes; the next one mends it.
 */
export interface WorkflowMigration {
  /** 1, 2, 3 …: its row in `schema_versions`. */
  readonly version: number;
  /** A few words with dashes; part of TypeORM's name for it. */
  readonly name: string;
  /** Milliseconds, for TypeORM, which orders a host's migrations by it. */
  readonly timestamp: number;
  /** Statements without a semicolon at the end; each may rely on those before it. */
  statements(names: TableNames): readonly string[];
}
