import type { DefinitionRow, DefinitionStore } from '../../engine/ports/index.js';
import { definitionRows, type DriftRow } from '../dialects/postgres/statements/definition-statements.js';
import type { StoreContext } from './store-context.js';

/** Structures that builds have served. */
export class PostgresDefinitions implements DefinitionStore {
  constructor(private readonly context: StoreContext) {}

  async registerDefinitions(definitions: readonly DefinitionRow[]): ReturnType<DefinitionStore['registerDefinitions']> {
    if (definitions.length === 0) return [];
    const { pool, statements } = this.context;
    const values = definitionRows.values(
      definitions.map(({ id, version, fingerprint, structure }) => ({ id, version, fingerprint, structure })),
    );
    await pool.query(statements.saveDefinitions, values);
    const rows = await pool.query<DriftRow>(statements.findDrift, values);
    return rows.map(({ id, version, fingerprint, unfinished_runs }) => ({
      id,
      version,
      fingerprint,
      unfinishedRuns: unfinished_runs,
    }));
  }
}
