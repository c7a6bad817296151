import type { Pool } from 'pg';
import { WorkflowService } from 'nestjs-workflow-engine';
import { freshDatabase } from '../support/database.js';
import { signal, withApp } from './app.js';
import { flowOf, stageOf } from './faults/scenes.js';

/** No short transaction takes this long, wherever it runs. */
const STAYS_OPEN_MS = 15_000;

interface Open {
  readonly pid: number;
  /** Of this very transaction: the next one on the connection has another. */
  readonly transaction: string;
  readonly state: string;
  readonly query: string;
}

/** Every transaction that is open on this database, waiting or at work, except the one that asks. */
async function openTransactions(pool: Pool): Promise<readonly Open[]> {
  const { rows } = await pool.query<Open>(
    `SELECT a.pid, l.virtualtransaction AS transaction, a.state, a.query FROM pg_stat_activity a JOIN pg_locks l USING (pid)
      WHERE a.datname = current_database() AND a.pid <> pg_backend_pid() AND l.locktype = 'virtualxid' AND l.granted`,
  );
  return rows;
}

/** Those that are open now and stay so: the engine's other work has transactions too, which end. */
async function transactionsThatStay(pool: Pool): Promise<readonly Open[]> {
  let staying = await openTransactions(pool);
  for (const begun = performance.now(); staying.length > 0 && performance.now() - begun < STAYS_OPEN_MS;) {
    const open = new Set((await openTransactions(pool)).map(({ transaction }) => transaction));
    staying = staying.filter(({ transaction }) => open.has(transaction));
  }
  return staying;
}

describe('while a stage runs', () => {
  it('TX-1: no transaction stays open: claim and record are two short ones, with the body between them', async () => {
    const database = await freshDatabase();
    const pool = database.openPool({ max: 1 });
    const [begun, goOn] = [signal(), signal()];
    const Work = stageOf('work', async () => {
      begun.resolve();
      await goOn.promise;
      return null;
    });
    const Flow = flowOf('flow', [Work]);
    await withApp({ database, providers: [Work, Flow] }, async (app) => {
      const workflows = app.get(WorkflowService);
      const { run } = await workflows.start('flow', null);
      await begun.promise;
      try {
        expect(await transactionsThatStay(pool)).toEqual([]);
      } finally {
        goOn.resolve();
      }
      await workflows.result(run);
    });
    await pool.end();
  });
});
