import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'pg';
import { WorkflowService } from 'nestjs-workflow-engine';
import { createDatabase, startEmbeddedPostgres } from 'nestjs-workflow-engine/testing';
import { freshDatabase } from '../../support/database.js';
import { brokenInvariants } from '../../support/invariants.js';
import { forkProcess } from '../../support/processes.js';
import { until } from '../../support/until.js';
import { signal, withApp } from '../app.js';
import { flowOf, stageOf } from './scenes.js';

const RUNS = 50;
const AWAY_MS = 10_000;

/** What is asked while connections break; undefined: it is asked again. */
const soon = <T>(asked: Promise<T>): Promise<T | undefined> => asked.catch(() => undefined);

it('FAULT L4: with the database gone for 10 s and 50 runs in flight the process lives and all of them complete', async () => {
  // A throwaway server goes with its data when it stops; this one comes back.
  const folder = await mkdtemp(join(tmpdir(), 'outage-'));
  await chmod(folder, 0o755);
  const dataDir = join(folder, 'data');
  const server = await startEmbeddedPostgres({ dataDir });
  const { port } = server;
  const url = await createDatabase(server.url());
  const workflow = { migrations: 'run', worker: { concurrency: RUNS } };
  const worker = forkProcess('test/e2e/faults/fault.process.ts', {
    env: { DATABASE_URL: url, WORKFLOW: JSON.stringify(workflow), HELD: '1' },
  });
  await worker.waitFor('ready');
  worker.send('start', { runs: RUNS });
  await worker.waitFor('started');
  for (let run = 0; run < RUNS; run++) await worker.waitFor('entered');

  await server.stop('fast');
  // The bodies end while there is nobody to tell.
  worker.send('end');
  // Real time is what is tested: retries and heartbeats come round while nothing answers.
  await new Promise((resolve) => setTimeout(resolve, AWAY_MS));
  const again = await startEmbeddedPostgres({ dataDir, port });
  const back = performance.now();
  const pool = new Pool({ connectionString: url, max: 1 });
  pool.on('error', () => undefined);
  try {
    const completed = `SELECT count(*)::int AS n FROM workflow_runs WHERE status = 'COMPLETED'`;
    let ended = false;
    void worker.ended.then(() => (ended = true));
    await until(async () => ended || (await soon(pool.query(completed)))?.rows[0].n === RUNS);
    console.info(`${RUNS} runs were complete ${Math.round(performance.now() - back)} ms after the database came back`);
    expect(ended).toBe(false);
    const attempts = 'SELECT max(attempt)::int AS attempts, max(losses)::int AS losses FROM workflow_stage_runs';
    expect((await pool.query(attempts)).rows).toEqual([{ attempts: 1, losses: 0 }]);
    expect(worker.output).not.toContain('escaped');
    expect(await brokenInvariants(pool)).toEqual({});
    await expect(worker.kill('SIGTERM')).resolves.toEqual({ code: null, signal: 'SIGTERM' });
  } finally {
    await pool.end();
    await again.stop('fast');
    await rm(folder, { recursive: true, force: true });
  }
});

it('FAULT C23: a failover to read-only while a stage runs costs no result and no attempt', async () => {
  const database = await freshDatabase();
  const [entered, opened] = [signal(), signal()];
  let bodies = 0;
  const Held = stageOf('held', async () => {
    bodies++;
    entered.resolve();
    await opened.promise;
    return 'kept';
  });
  const Next = stageOf('next', (ctx) => ctx.input);
  const Flow = flowOf('flow', [Held, Next]);
  const admin = database.openPool({ max: 1 });
  const breakAll = (): Promise<unknown> =>
    admin.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()`);
  await withApp({ database, providers: [Held, Next, Flow] }, async (app) => {
    const workflows = app.get(WorkflowService);
    const { run } = await workflows.start(Flow, null);
    await entered.promise;
    await admin.query(`ALTER DATABASE "${database.name}" SET default_transaction_read_only = on`);
    await breakAll();
    opened.resolve();
    // Reads go on answering.
    await until(async () => (await soon(workflows.get(run)))?.status === 'RUNNING');
    await admin.query('SET default_transaction_read_only = off');
    await until(async () => {
      const { rows } = await admin.query(`SELECT count(*)::int AS n FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND state_change > backend_start`);
      return rows[0].n > 0;
    });
    await admin.query(`ALTER DATABASE "${database.name}" RESET default_transaction_read_only`);
    await breakAll();
    await expect(workflows.result(run)).resolves.toBe('kept');
    await expect(workflows.history(run)).resolves.toMatchObject({
      stages: [
        { attempt: 1, losses: 0, failedAttempts: [] },
        { attempt: 1, losses: 0 },
      ],
    });
    expect(bodies).toBe(1);
  });
  await admin.end();
});
