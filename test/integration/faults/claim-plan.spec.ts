import type { Pool, PoolClient } from 'pg';
import { claim, claimValues } from '../../../lib/persistence/dialects/postgres/statements/claim.js';
import { tableNames } from '../../../lib/persistence/table-names.js';
import { freshDatabase } from '../../support/database.js';

const WAITING = 100_000;
const t = tableNames();
const { text } = claim(t);
const values = claimValues(0, 'worker', 50, [], null, 0);

/** Everything that a plan did, as one number: index pages, heap pages and the rows it threw away. */
interface Plan {
  readonly text: string;
  readonly ms: number;
  readonly pages: number;
}

async function explain(client: PoolClient): Promise<Plan> {
  await client.query('BEGIN');
  const { rows } = await client.query({ text: `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`, values });
  await client.query('ROLLBACK');
  const [{ Plan: root, 'Execution Time': ms }] = rows[0]['QUERY PLAN'];
  return { text: JSON.stringify(root), ms, pages: root['Shared Hit Blocks'] + root['Shared Read Blocks'] };
}

/** Rows as a busy table has them, whose statistics nobody ever renewed. */
async function fill(pool: Pool, state: 0 | 2, runAt: string): Promise<void> {
  for (const table of [t.runs, t.stageRuns, t.jobs])
    await pool.query(`ALTER TABLE ${table} SET (autovacuum_enabled = false)`);
  const status = state === 0 ? 'RUNNING' : 'PENDING';
  await pool.query(`INSERT INTO ${t.runs} (id, definition_id, definition_version, definition_key, status, input)
    SELECT md5('run' || n)::uuid, 'd', 1, 'd@1#f', '${status}', 'null' FROM generate_series(1, ${WAITING}) n`);
  await pool.query(`INSERT INTO ${t.stageRuns} (id, run_id, node, position, key, stage, ordinal, status)
    SELECT md5('stage' || n)::uuid, md5('run' || n)::uuid, 'a', 0, 'a', 'a', 0, 'PENDING' FROM generate_series(1, ${WAITING}) n`);
  await pool.query(`INSERT INTO ${t.jobs} (id, run_id, stage_run_id, definition_key, queue, state, run_at)
    SELECT md5('job' || n)::uuid, md5('run' || n)::uuid, md5('stage' || n)::uuid, 'd@1#f', 'default', ${state}, ${runAt} FROM generate_series(1, ${WAITING}) n`);
}

describe.each([
  ['due', 0, `now() - n * interval '1 ms'`, 50],
  ['delayed', 2, `now() + interval '1 day' + n * interval '1 ms'`, 0],
] as const)('with 100,000 %s jobs', (_, state, runAt, taken) => {
  let pool: Pool;
  let client: PoolClient;

  beforeAll(async () => {
    const database = await freshDatabase();
    pool = database.openPool({ max: 1 });
    await fill(pool, state, runAt);
    client = await pool.connect();
  });
  afterAll(async () => {
    client.release();
    await pool.end();
  });

  it.each(['never analysed', 'analysed', 'as a generic plan'])(
    'FAULT C15: the claim reads the index of due jobs, %s',
    async (how) => {
      if (how === 'analysed') await client.query(`ANALYZE ${t.runs}, ${t.stageRuns}, ${t.jobs}`);
      if (how === 'as a generic plan') await client.query(`SET plan_cache_mode = force_generic_plan`);
      const plans: Plan[] = [];
      // The first one warms the caches.
      for (let time = 0; time < 4; time++) plans.push(await explain(client));
      const { text: plan, pages } = plans[3]!;
      const ms = Math.min(...plans.map((each) => each.ms));
      console.info(`claim of ${taken} among ${WAITING}, ${how}: ${ms.toFixed(1)} ms, ${pages} pages`);
      expect(plan).toContain('jobs_due');
      expect(plan).not.toContain('Seq Scan');
      // A claim of n reads and writes some rows in each of four tables; an empty one looks at the top of the index.
      expect(pages).toBeLessThan(taken === 0 ? 10 : taken * 60);
      // What a slow machine takes; the pages tell the rest.
      expect(ms).toBeLessThan(2_000);
    },
  );
});
