import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Pool } from 'pg';
import { WorkflowService } from '../../lib/index.js';
import { createDatabase, startEmbeddedPostgres, type EmbeddedPostgres } from '../../lib/testing/index.js';
import { brokenInvariants } from '../support/invariants.js';
import { forkProcess, type TestProcess } from '../support/processes.js';
import { CHAOS_TABLES, chaosModule, FiveStages, STAGES } from './five-stages.js';

const COMPLETED = `SELECT count(*) FROM workflow_runs WHERE status = 'COMPLETED'`;

/** A server of this file's own: it is restarted in the middle. */
describe('worker processes on one database', () => {
  let server: EmbeddedPostgres;
  let starter: INestApplicationContext | undefined;
  let pool: Pool | undefined;
  let workers: TestProcess[] = [];

  beforeAll(async () => {
    server = await startEmbeddedPostgres({ settings: { max_connections: '300' } });
  });
  afterEach(async () => {
    await Promise.all(workers.map((worker) => worker.kill()));
    workers = [];
    await starter?.close();
    await pool?.end();
  });
  afterAll(() => server.stop());

  /** A database with so many runs in it; `over` resolves when all of them have ended, and rejects when one ended badly. */
  async function prepare(runs: number): Promise<{ readonly url: string; readonly over: Promise<true> }> {
    const url = await createDatabase(server.url());
    pool = new Pool({ connectionString: url, max: 2 });
    pool.on('error', () => undefined);
    starter = await NestFactory.createApplicationContext(chaosModule(url, { worker: false, wake: { every: false } }), {
      logger: false,
    });
    for (const table of CHAOS_TABLES) await pool.query(table);
    const workflows = starter.get(WorkflowService);
    const started = await workflows.startMany(
      FiveStages,
      Array.from({ length: runs }, (_, n) => ({ input: { n } })),
    );
    // Who waits is told of the ends, and outlives the database's restart.
    return { url, over: Promise.all(started.map(({ run }) => workflows.result(run))).then(() => true) };
  }

  const count = async (query: string): Promise<number> => Number((await pool!.query(query)).rows[0].count);

  /** Resolves with true as soon as all runs have ended, else with false after a second. */
  async function endWithinASecond(over: Promise<true>): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const second = new Promise<false>((resolve) => (timer = setTimeout(resolve, 1_000, false)));
    return Promise.race([over, second]).finally(() => clearTimeout(timer));
  }

  const spawn = (url: string, env: NodeJS.ProcessEnv): TestProcess =>
    forkProcess('test/chaos/worker.process.ts', { env: { DATABASE_URL: url, ...env } });

  it('RUN-2, LEASE-3, LEASE-5, FAULT L1, FAULT L4: killed, frozen and cut off, every run ends and every stage is recorded once', async () => {
    const runs = 500;
    const { url, over } = await prepare(runs);
    const env = { CHAOS_WORK_MS: '400', CHAOS_EFFECTS: '1' };
    workers = Array.from({ length: 4 }, () => spawn(url, env));
    await Promise.all(workers.map((worker) => worker.waitFor('ready')));

    let kills = 0;
    let frozen: TestProcess | undefined;
    // A `kill -9` a second, a freeze past a lease: here real time is what is tested.
    for (let second = 0; !(await endWithinASecond(over)); second += 1) {
      if (second === 2) {
        frozen = workers[0]!;
        frozen.freeze();
      }
      // Past its lease, which others have taken over by then.
      if (second === 6) frozen!.thaw();
      if (second === 8) await server.restart('fast');
      const victim = workers.findIndex((worker) => worker !== frozen || second > 10);
      const at = victim + (second % Math.max(1, workers.length - 1 - victim));
      if (workers[at] === frozen && second <= 10) continue;
      await workers[at]!.kill();
      workers[at] = spawn(url, env);
      kills += 1;
    }
    await Promise.all(workers.map((worker) => worker.kill()));

    expect(await count(COMPLETED)).toBe(runs);
    const counts = {
      runs,
      kills,
      executions: await count('SELECT count(*) FROM executions'),
      recorded: await count(`SELECT count(*) FROM workflow_stage_runs WHERE status = 'COMPLETED'`),
      effects: await count('SELECT count(*) FROM effects'),
      lost: await count(`SELECT count(*) FROM workflow_attempts WHERE code = 'LEASE_EXPIRED'`),
    };
    console.info('chaos:', JSON.stringify(counts));
    expect(counts.recorded).toBe(runs * STAGES);
    expect(await count('SELECT count(*) FROM workflow_stage_runs')).toBe(runs * STAGES);
    expect(counts.effects).toBe(runs * STAGES);
    expect(kills).toBeGreaterThan(5);
    expect(counts.lost).toBeGreaterThan(0);
    // The recorded result is that of the process which held the lease last.
    expect(
      await count(`SELECT count(*) FROM workflow_stage_runs WHERE worker_id NOT LIKE '%-' || (output->>'pid') || '-%'`),
    ).toBe(0);
    // Each run's end told once, nothing open, nothing left over.
    expect(await brokenInvariants(pool!)).toEqual({});
    expect(await count('SELECT count(*) FROM workflow_jobs')).toBe(0);
  }, 300_000);

  it('JOB-1, RUN-2: two processes execute each stage of 2,000 runs once', async () => {
    const runs = 2_000;
    const { url, over } = await prepare(runs);
    workers = Array.from({ length: 2 }, () => spawn(url, { CHAOS_CONCURRENCY: '20' }));
    await over;
    expect(await count(COMPLETED)).toBe(runs);
    const executions = await count('SELECT count(*) FROM executions');
    const processes = await count('SELECT count(DISTINCT pid) FROM executions');
    console.info('two processes:', JSON.stringify({ runs, executions, processes }));
    expect(executions).toBe(runs * STAGES);
    expect(
      await count('SELECT count(*) FROM (SELECT 1 FROM executions GROUP BY stage_run_id HAVING count(*) > 1) twice'),
    ).toBe(0);
    expect(processes).toBe(2);
    expect(await brokenInvariants(pool!)).toEqual({});
  }, 300_000);
});
