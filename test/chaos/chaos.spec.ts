import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Pool } from 'pg';
import { WorkflowService } from '../../lib/index.js';
import { createDatabase, startEmbeddedPostgres, type EmbeddedPostgres } from '../../lib/testing/index.js';
import { brokenInvariants } from '../support/invariants.js';
import { forkProcess, type TestProcess } from '../support/processes.js';
import { until } from '../support/until.js';
import { HeldWorker } from './held-worker.js';
import { CHAOS_TABLES, chaosModule, FiveStages, STAGES } from './five-stages.js';

const WORKERS = 4;
/** Bodies that a worker may end between two kills. */
const BETWEEN_KILLS = 15;
const LOST = `SELECT count(*) FROM workflow_attempts WHERE code = 'LEASE_EXPIRED'`;
/** Stages that a process has, and nobody lost before: the first loss goes to the front of the queue, further ones wait. */
const LEASED = `SELECT s.id FROM workflow_jobs j JOIN workflow_stage_runs s ON s.id = j.stage_run_id
  WHERE j.state = 1 AND s.losses = 0 AND j.locked_by LIKE '%-' || $1 || '-%'`;
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

  const spawn = (url: string, env: NodeJS.ProcessEnv): TestProcess =>
    forkProcess('test/chaos/worker.process.ts', { env: { DATABASE_URL: url, ...env } });

  it('RUN-2, LEASE-3, LEASE-5, FAULT L1, FAULT L4: killed, frozen and cut off, every run ends and every stage is recorded once', async () => {
    const runs = 500;
    const { url, over } = await prepare(runs);
    const spawnHeld = (at: number): void => {
      workers[at] = spawn(url, { CHAOS_EFFECTS: '1', CHAOS_HELD: '1' });
      held[at] = new HeldWorker(workers[at]!);
    };
    const held: HeldWorker[] = [];
    for (let at = 0; at < WORKERS; at += 1) spawnHeld(at);
    /** Dies in the middle of its bodies; another process takes its place. */
    const strike = async (at: number): Promise<void> => {
      await held[at]!.held();
      await workers[at]!.kill();
      spawnHeld(at);
      kills += 1;
      // The others get on a little: each of their bodies is somewhere else the next time.
      for (const [other, worker] of held.entries()) if (other !== at && other !== frozen) worker.grant(BETWEEN_KILLS);
    };
    const strikeAll = async (): Promise<void> => {
      for (let at = 0; at < WORKERS; at += 1) if (at !== frozen) await strike(at);
    };

    const leased = async (at: number): Promise<readonly string[]> =>
      (await pool!.query(LEASED, [workers[at]!.pid])).rows.map(({ id }) => id);
    /** The stages whose leases it stands still with: some, and none that a stall has lost it before. */
    const freeze = async (at: number): Promise<readonly string[]> => {
      for (;;) {
        const { length } = await held[at]!.held();
        workers[at]!.freeze();
        const stages = await leased(at);
        if (stages.length > 0) return stages;
        workers[at]!.thaw();
        held[at]!.grant(length);
      }
    };

    let kills = 0;
    let frozen: number | undefined;
    await strikeAll();
    // It stands still until its leases are over and others have its stages; then its bodies end as if nothing had been.
    frozen = 0;
    const lost = await freeze(frozen);
    // Bodies go on only now: a stage that is lost is first in the queue, but it has to find a free slot.
    await until(async () => (await leased(0)).length === 0);
    const others = held.filter((_worker, at) => at !== frozen);
    for (const worker of others) worker.grant(BETWEEN_KILLS);
    await Promise.race(others.map((worker) => worker.enters(lost)));
    await strikeAll();
    workers[frozen]!.thaw();
    held[frozen]!.grant(BETWEEN_KILLS);
    frozen = undefined;
    await server.restart('fast');
    await strikeAll();
    for (const worker of held) worker.grant(Infinity);
    await over;
    await Promise.all(workers.map((worker) => worker.kill()));

    expect(await count(COMPLETED)).toBe(runs);
    const counts = {
      runs,
      kills,
      executions: await count('SELECT count(*) FROM executions'),
      recorded: await count(`SELECT count(*) FROM workflow_stage_runs WHERE status = 'COMPLETED'`),
      effects: await count('SELECT count(*) FROM effects'),
      lost: await count(LOST),
    };
    console.info('chaos:', JSON.stringify(counts));
    expect(counts.recorded).toBe(runs * STAGES);
    expect(await count('SELECT count(*) FROM workflow_stage_runs')).toBe(runs * STAGES);
    expect(counts.effects).toBe(runs * STAGES);
    expect(kills).toBe(3 * WORKERS - 1);
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
