import type { CreatedRun, JoinedTransaction, NewRun, StartStore } from '../../engine/ports/index.js';
import { createRunsValues, type CreatedRow } from '../dialects/postgres/statements/create-runs.js';
import type { StoreContext } from './store-context.js';

/** Starts: one statement, in a transaction of its own or in the host's. */
export class PostgresStarts implements StartStore {
  constructor(private readonly context: StoreContext) {}

  async createRuns(runs: readonly NewRun[], transaction?: JoinedTransaction): Promise<CreatedRun[]> {
    if (runs.length === 0) return [];
    const { pool, statements, clock } = this.context;
    const statement = runs.some((run) => run.idempotency) ? statements.createRunsKeyed : statements.createRuns;
    const values = createRunsValues(clock.offsetMs, runs);
    const rows = transaction
      ? ((await transaction.query(statement.text, values)) as CreatedRow[])
      : await pool.query<CreatedRow>(statement, values);
    return rows.map((row) => ({ runId: row.run_id, created: row.created, inputDigest: row.input_digest }));
  }
}
