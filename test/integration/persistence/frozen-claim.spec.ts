import { DataSource } from 'typeorm';
import type { Pool } from 'pg';
import { createPostgresStore } from '../../../lib/persistence/index.js';
import { tableNames } from '../../../lib/persistence/table-names.js';
import { freshDatabase, LIMITS_SENDING, type FreshDatabase } from '../../support/database.js';
import { databaseWithRoles, PASSWORD } from '../row-level-security/guarded-database.js';
import { findPgbouncer, startPooler } from '../../support/pgbouncer.js';
import { forkProcess } from '../../support/processes.js';
import { until, untilBlocked } from '../../support/until.js';

const t = tableNames();
const JOBS = 60;
const INPUT_CHARS = 250_000;
const SILENCE_MS = 1_000;
const program = findPgbouncer();

/** Due jobs, each with an input of nearly the largest size. */
async function fill(pool: Pool): Promise<void> {
  await pool.query(`INSERT INTO ${t.runs} (id, definition_id, definition_version, definition_key, status, input)
    SELECT md5('run' || n)::uuid, 'd', 1, 'd@1#f', 'RUNNING', to_json(repeat('x', ${INPUT_CHARS})) FROM generate_series(1, ${JOBS}) n`);
  await pool.query(`INSERT INTO ${t.stageRuns} (id, run_id, node, position, key, stage, ordinal, status)
    SELECT md5('stage' || n)::uuid, md5('run' || n)::uuid, 'a', 0, 'a', 'a', 0, 'PENDING' FROM generate_series(1, ${JOBS}) n`);
  await pool.query(`INSERT INTO ${t.jobs} (id, run_id, stage_run_id, definition_key, queue, state, run_at)
    SELECT md5('job' || n)::uuid, md5('run' || n)::uuid, md5('stage' || n)::uuid, 'd@1#f', 'default', 0, now() FROM generate_series(1, ${JOBS}) n`);
}

(LIMITS_SENDING ? describe : describe.skip)('a worker that stands still while a large claim is sent to it', () => {
  it('LEASE-3: keeps none of its jobs from others', async () => {
    const database = await freshDatabase();
    await provedOn(database, database.url);
  });

  (program === undefined ? it.skip : it)('LEASE-3: nor does it through PgBouncer in transaction mode', async () => {
    const database = await databaseWithRoles();
    await database.cli(`migrate --grant ${database.app}`);
    const pooler = await startPooler(program!, { users: { [database.app]: PASSWORD }, poolSize: 2 });
    await provedOn(database, pooler.through(database.urlOf(database.app)));
    await pooler.stop();
    await database.dropAll();
  });

  /** @param url of the one that stands still */
  async function provedOn(database: FreshDatabase, url: string): Promise<void> {
    const pool = database.openPool();
    await fill(pool);
    const frozen = forkProcess('test/integration/persistence/frozen-claim.process.ts', {
      env: { DATABASE_URL: url, SILENCE_MS: String(SILENCE_MS) },
    });
    await frozen.waitFor('ready');

    // Held at the door, so that it stands still before it can read anything of the answer.
    const door = await pool.connect();
    await door.query(`BEGIN; LOCK TABLE ${t.jobs} IN ACCESS EXCLUSIVE MODE`);
    frozen.send('claim', { limit: JOBS });
    await untilBlocked(pool);
    const inDatabase = 'FROM pg_stat_activity WHERE datname = current_database()';
    const { rows } = await pool.query(`SELECT pid ${inDatabase} AND wait_event_type = 'Lock'`);
    frozen.freeze();
    await door.query('COMMIT');
    door.release();
    // Sending, and it stands; or that is over already.
    const claiming = `SELECT 1 ${inDatabase} AND pid = $1 AND wait_event IS DISTINCT FROM 'ClientWrite'`;
    await until(async () => (await pool.query(claiming, [rows[0].pid])).rows.length === 0);

    // Waits for the rows that the claim has.
    await pool.query(`SELECT id FROM ${t.jobs} ORDER BY id FOR UPDATE`);
    const store = await createPostgresStore(new DataSource(database.dataSourceOptions));
    const { claimed } = await store.claim({ workerId: 'other', limit: JOBS, queues: null, unserved: [] });
    expect(claimed).toHaveLength(JOBS);

    frozen.thaw();
    expect(await frozen.waitFor('claimed')).toMatchObject({ transient: true });
    frozen.send('claim', { limit: JOBS });
    expect(await frozen.waitFor('claimed')).toMatchObject({ claimed: 0 });
    frozen.send('close');
    await frozen.ended;
    await store.close();
    await pool.end();
  }
});
