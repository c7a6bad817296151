import { WorkflowService } from 'nestjs-workflow-engine';
import { freshDatabase } from '../support/database.js';
import { signal, withApp } from './app.js';
import { flowOf, stageOf } from './faults/scenes.js';

describe('while a stage runs', () => {
  it('TX-1: no transaction is open: claim and record are two short ones, with the body between them', async () => {
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
      const { rows } = await pool.query(
        `SELECT pid, state, query FROM pg_stat_activity
          WHERE datname = current_database() AND pid <> pg_backend_pid() AND state LIKE 'idle in transaction%'`,
      );
      expect(rows).toEqual([]);
      const { rows: locks } = await pool.query(
        `SELECT l.mode, c.relname FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
          WHERE l.pid <> pg_backend_pid() AND c.relname LIKE 'workflow%' AND l.mode <> 'AccessShareLock'`,
      );
      expect(locks).toEqual([]);
      goOn.resolve();
      await workflows.result(run);
    });
    await pool.end();
  });
});
