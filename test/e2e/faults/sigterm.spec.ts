import type { Pool } from 'pg';
import { freshDatabase, type FreshDatabase } from '../../support/database.js';
import { forkProcess, type TestProcess } from '../../support/processes.js';
import { untilBlocked } from '../../support/until.js';

describe('SIGTERM, in real processes', () => {
  let database: FreshDatabase;
  let pool: Pool;

  beforeEach(async () => {
    database = await freshDatabase();
    pool = database.openPool({ max: 2 });
  });
  afterEach(() => pool.end());

  async function spawn(workflow: object, env: NodeJS.ProcessEnv = {}): Promise<TestProcess> {
    const worker = forkProcess('test/e2e/faults/fault.process.ts', {
      env: {
        DATABASE_URL: database.url,
        WORKFLOW: JSON.stringify(workflow),
        HELD: '1',
        ASKS_DATABASE: '1',
        ...env,
      },
    });
    await worker.waitFor('ready');
    return worker;
  }

  /** The one run there is, its first stage, and how often that was begun and lost. */
  const theRun = async () => {
    const { rows } = await pool.query(
      `SELECT r.id, r.status, s.status AS stage, s.attempt, s.losses, s.output::text::json AS output, s.worker_id AS worker
         FROM workflow_runs r JOIN workflow_stage_runs s ON s.run_id = r.id AND s.key = 'step'`,
    );
    return rows[0] as {
      id: string;
      status: string;
      stage: string;
      attempt: number;
      losses: number;
      output: any;
      worker: string;
    };
  };

  /** Keeps everybody from a table until the returned function is called. */
  async function hold(table: string): Promise<() => Promise<void>> {
    const blocker = await pool.connect();
    blocker.on('error', () => undefined);
    await blocker.query('BEGIN');
    await blocker.query(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
    return async () => {
      await blocker.query('COMMIT');
      blocker.release();
    };
  }

  /** The one run there is has ended: this process says so. */
  async function runEnds(by: TestProcess): Promise<void> {
    by.send('result', { run: (await theRun()).id });
    await by.waitFor('ended');
  }

  const clean = (worker: TestProcess): void =>
    expect(worker.output).not.toMatch(/ERROR|escaped|after it was over|could not|does not answer|takes longer/);

  it('FAULT L5, FAULT G12: in a stage it drains within the grace, its last record on an open database', async () => {
    const worker = await spawn({});
    worker.send('start', { runs: 1 });
    await worker.waitFor('entered');
    const ended = worker.kill('SIGTERM');
    await worker.waitFor('shutting down');
    worker.send('end');
    expect(await ended).toEqual({ code: null, signal: 'SIGTERM' });
    expect(await theRun()).toMatchObject({ stage: 'COMPLETED', attempt: 1, losses: 0, output: { open: 1 } });
    clean(worker);
  });

  it('FAULT L5: past its grace it hands the stage back at once, and another process finishes, no attempt used up', async () => {
    const worker = await spawn({ shutdownGrace: 10 });
    worker.send('start', { runs: 1 });
    await worker.waitFor('entered');
    const begun = performance.now();
    await worker.kill('SIGTERM');
    // The default grace is 30 s.
    expect(performance.now() - begun).toBeLessThan(25_000);
    expect(await theRun()).toMatchObject({ status: 'RUNNING', stage: 'PENDING', losses: 0 });
    const other = await spawn({}, { HELD: '0' });
    await expect(other.waitFor('entered')).resolves.toMatchObject({ attempt: 1 });
    await runEnds(other);
    expect(await theRun()).toMatchObject({ status: 'COMPLETED', attempt: 1, losses: 0, output: { pid: other.pid } });
    await other.kill('SIGTERM');
    clean(other);
  });

  it('FAULT G12, FAULT C16: during a heartbeat the lease is kept and the outcome recorded', async () => {
    const worker = await spawn({
      lease: { heartbeatInterval: 50, staleThreshold: '1m' },
      worker: { pollInterval: '1h' },
    });
    worker.send('start', { runs: 1 });
    await worker.waitFor('entered');
    const letGo = await hold('workflow_jobs');
    // An engine statement stands before this lock: the shutdown meets it there.
    await untilBlocked(pool);
    const ended = worker.kill('SIGTERM');
    await worker.waitFor('shutting down');
    await letGo();
    worker.send('end');
    await ended;
    expect(await theRun()).toMatchObject({ stage: 'COMPLETED', attempt: 1, losses: 0, output: { open: 1 } });
    clean(worker);
  });

  it('FAULT G12: during the reaper the pass ends first, and what it reaped is there for the next process', async () => {
    const dead = await spawn({});
    dead.send('start', { runs: 1 });
    await dead.waitFor('entered');
    await dead.kill();
    // The reaper writes down the lost attempt.
    const letGo = await hold('workflow_attempts');
    await pool.query(`UPDATE workflow_jobs SET locked_at = now() - interval '1 hour'`);
    const worker = await spawn({ wake: { every: 50 } });
    await untilBlocked(pool);
    const ended = worker.kill('SIGTERM');
    await letGo();
    await ended;
    clean(worker);
    expect(await theRun()).toMatchObject({ status: 'RUNNING', losses: 1 });
    const other = await spawn({}, { HELD: '0' });
    await runEnds(other);
    expect(await theRun()).toMatchObject({ status: 'COMPLETED', losses: 1, attempt: 1, output: { pid: other.pid } });
    await other.kill('SIGTERM');
  });

  it('FAULT K38: a caller that waits for a result is rejected while the process still lives', async () => {
    const worker = await spawn({});
    worker.send('wait');
    await worker.waitFor('entered');
    const ended = worker.kill('SIGTERM');
    await expect(worker.waitFor('rejected')).resolves.toMatchObject({ code: 'SHUTTING_DOWN' });
    worker.send('end');
    await ended;
    expect(await theRun()).toMatchObject({ stage: 'COMPLETED' });
  });
});
