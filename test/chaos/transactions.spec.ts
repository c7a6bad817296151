import { freshDatabase } from '../support/database.js';
import { brokenInvariants } from '../support/invariants.js';
import { forkProcess, type TestProcess } from '../support/processes.js';
import { untilAlone } from '../support/until.js';
import { BOOKINGS_TABLE, TRANSACTIONS_PER_RUN } from './transaction-flow.js';

const RUNS = 24;
const KILLS = 9;
/** Three transactions that a victim may do beyond its point, until it is dead; there it stands still. */
const BEYOND = 9;
/** Processes that get ready while others die. */
const AHEAD = 2;

/** Rows of either side that the other lacks, or that were written by another transaction. */
const APART = `
  SELECT b.run, b.name, s.key FROM bookings b
    FULL JOIN (SELECT *, xmin AS made FROM workflow_steps WHERE kind = 'transaction') s ON s.run_id::text = b.run AND s.key = b.name
   WHERE s.key IS NULL OR b.name IS NULL OR s.status <> 'completed' OR s.made <> b.xmin`;

describe('ctx.transaction in a process that is killed', () => {
  it("TX-3: the ledger's row and the host's are there together, or neither is", async () => {
    const database = await freshDatabase();
    const pool = database.openPool({ max: 1 });
    await pool.query(BOOKINGS_TABLE);
    const ready: TestProcess[] = Array.from({ length: AHEAD }, () => forkProcess('test/chaos/transactions.process.ts'));
    const begin = async (runs: number, points?: number): Promise<TestProcess> => {
      const next = ready.shift()!;
      await next.waitFor('ready');
      next.send('work', { url: database.url, runs, points });
      return next;
    };
    const left: number[] = [];
    for (let kill = 0; kill < KILLS; kill++) {
      ready.push(forkProcess('test/chaos/transactions.process.ts'));
      // Three points a transaction.
      const points = 12 + Math.floor(Math.random() * 75);
      const victim = await begin(kill === 0 ? RUNS : 0, points + BEYOND);
      // The first one works at the runs while it still starts them: it dies when all are there.
      if (kill === 0) await victim.waitFor('working');
      for (let point = 0; point < points; point++) await victim.waitFor('point');
      await victim.kill('SIGKILL');
      // Nothing is judged before its server processes are gone.
      await untilAlone(pool);
      expect((await pool.query(APART)).rows).toEqual([]);
      left.push((await pool.query('SELECT count(*)::int AS n FROM bookings')).rows[0].n);
    }
    const survivor = await begin(0);
    await survivor.waitFor('ended');
    expect((await pool.query(APART)).rows).toEqual([]);
    const { rows } = await pool.query(
      'SELECT count(*)::int AS bookings, count(DISTINCT (run, name))::int AS names FROM bookings',
    );
    const all = RUNS * TRANSACTIONS_PER_RUN;
    expect(rows).toEqual([{ bookings: all, names: all }]);
    // It died while there was something to do.
    expect(left[0]).toBeLessThan(all);
    expect(await brokenInvariants(pool)).toEqual({});
    await pool.end();
    await Promise.all([survivor, ...ready].map((process) => process.kill()));
  }, 240_000);
});
