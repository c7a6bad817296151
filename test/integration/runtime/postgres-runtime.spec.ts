import type { DataSource } from 'typeorm';
import type { StageContext } from '../../../lib/interfaces/index.js';
import { createPostgresStore, tableNames } from '../../../lib/persistence/index.js';
import { freshDatabase, type FreshDatabase } from '../../support/database.js';
import { workflow, type TestWorkflow } from '../../unit/runtime/support/pipeline.js';
import { signal } from '../../unit/runtime/support/signals.js';
import { TestEngine, type TestEngineGiven } from '../../unit/runtime/support/test-engine.js';

const t = tableNames();
let database: FreshDatabase;
let host: DataSource;
const engines: TestEngine[] = [];

beforeAll(async () => {
  database = await freshDatabase();
  host = await database.openDataSource();
});
afterAll(() => host.destroy());
afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
  await host.query(`TRUNCATE ${[t.runs, t.stageRuns, t.nodeVisits, t.attempts, t.jobs, t.outbox].join(', ')}`);
});

/** One process on the shared database. */
async function engineOf(flows: readonly TestWorkflow[], given: TestEngineGiven = {}): Promise<TestEngine> {
  const store = await createPostgresStore(host);
  const engine = new TestEngine(flows, {
    options: { worker: { concurrency: 50, pollInterval: '50 ms' } },
    ...given,
    store,
  });
  engines.push(engine);
  return engine;
}

/** Resolves when so many runs have ended, as these processes hear it. */
function ended(processes: readonly TestEngine[], count: number): Promise<void> {
  const done = signal();
  const ids = new Set<string>();
  for (const { sink, runtime } of processes) {
    sink.hear = ({ type, run }) => {
      if (['run:completed', 'run:failed', 'run:cancelled'].includes(type)) ids.add(run!.id);
      if (ids.size === count) done.fire();
    };
    runtime.relay.start();
  }
  return done;
}

/** Every connection of the engines breaks, as when the server restarts. */
async function breakConnections(): Promise<void> {
  const pool = database.openPool({ max: 1 });
  await pool.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'nestjs-workflow-engine'`,
  );
  await pool.end();
}

const counted = (keys: readonly string[], ran: string[]) =>
  keys.map((key) => ({ key, execute: (ctx: StageContext) => (ran.push(`${ctx.run.id} ${key}`), key) }));

it('RUN-2: two processes drain runs of three stages, each stage once', async () => {
  const ran: string[] = [];
  const flow = workflow('flow', counted(['a', 'b', 'c'], ran));
  const [one, two] = [await engineOf([flow]), await engineOf([flow])];
  for (let run = 0; run < 200; run++) await one.start(flow, { run });
  const done = ended([one, two], 200);
  one.runtime.worker.start();
  two.runtime.worker.start();
  await done;
  expect(ran).toHaveLength(600);
  expect(new Set(ran).size).toBe(600);
  expect(await one.store.countRuns({ all: true })).toEqual({ COMPLETED: 200 });
});

it('GRP-2: groups whose branches end in two processes at once advance their run once', async () => {
  const ran: string[] = [];
  const branches = counted(
    Array.from({ length: 10 }, (_, at) => `b${at}`),
    ran,
  );
  const flow = workflow('flow', [
    branches,
    { key: 'join', execute: (ctx) => (ran.push(`${ctx.run.id} join`), ctx.input) },
  ]);
  const [one, two] = [await engineOf([flow]), await engineOf([flow])];
  const runIds: string[] = [];
  for (let run = 0; run < 40; run++) runIds.push(await one.start(flow));
  const done = ended([one, two], 40);
  one.runtime.worker.start();
  two.runtime.worker.start();
  await done;
  expect(ran).toHaveLength(40 * 11);
  expect(new Set(ran).size).toBe(40 * 11);
  expect(await one.output(runIds[0]!)).toEqual(Object.fromEntries(branches.map(({ key }) => [key, key])));
});

it('FAULT L4, LEASE-5: connections that break while stages are recorded lose nothing, and nothing runs twice', async () => {
  const ran: string[] = [];
  let breaks = 0;
  const stages = ['a', 'b', 'c'].map((key) => ({
    key,
    execute: async (ctx: StageContext) => {
      ran.push(`${ctx.run.id} ${key}`);
      if (ran.length % 40 === 0 && breaks++ < 5) await breakConnections();
    },
  }));
  const flow = workflow('flow', stages);
  const engine = await engineOf([flow]);
  for (let run = 0; run < 100; run++) await engine.start(flow);
  const done = ended([engine], 100);
  engine.runtime.worker.start();
  await done;
  expect(breaks).toBeGreaterThanOrEqual(5);
  expect(new Set(ran).size).toBe(300);
  expect(ran).toHaveLength(300);
});

it('FAULT C23: an outcome that meets a read-only database is written when that is over', async () => {
  const [begun, goOn] = [signal(), signal()];
  const a = (): Promise<void> => {
    begun.fire();
    return goOn;
  };
  const flow = workflow('flow', [
    { key: 'a', execute: a },
    { key: 'b', execute: () => 'end' },
  ]);
  const engine = await engineOf([flow]);
  const runId = await engine.start(flow);
  const done = ended([engine], 1);
  engine.runtime.worker.start();
  await begun;
  await host.query(`ALTER DATABASE "${database.name}" SET default_transaction_read_only = on`);
  await breakConnections();
  goOn.fire();
  await engine.log.has('warn', 'The database does not answer');
  await host.query('SET default_transaction_read_only = off');
  await host.query(`ALTER DATABASE "${database.name}" RESET default_transaction_read_only`);
  await breakConnections();
  await done;
  expect(await engine.output(runId)).toBe('end');
});

it('the slow lane: a host transaction that holds a run holds up nobody else', async () => {
  const flow = workflow('flow', [{ key: 'a', execute: () => 1 }]);
  const engine = await engineOf([flow]);
  const busy = await engine.start(flow);
  const others = [await engine.start(flow), await engine.start(flow)];
  const runner = host.createQueryRunner();
  await runner.startTransaction();
  await runner.query(`SELECT 1 FROM ${t.runs} WHERE id = $1 FOR UPDATE`, [busy]);
  const done = ended([engine], 2);
  engine.runtime.worker.start();
  await done;
  for (const runId of others) expect((await engine.statuses(runId)).run).toBe('COMPLETED');
  expect((await engine.statuses(busy)).run).toBe('RUNNING');
  const rest = ended([engine], 1);
  await runner.commitTransaction();
  await runner.release();
  await rest;
  expect((await engine.statuses(busy)).run).toBe('COMPLETED');
});

it('WAKE-1: a run that a host holds keeps nothing else of the wake pass waiting', async () => {
  const flow = workflow('flow', [{ key: 'a', execute: () => 1 }]);
  const engine = await engineOf([flow]);
  const hour = 3_600_000;
  // The oldest deadline comes first.
  const held = await engine.start(flow, null, { deadlineMs: hour });
  const other = await engine.start(flow, null, { deadlineMs: 2 * hour });
  const runner = host.createQueryRunner();
  await runner.startTransaction();
  await runner.query(`SELECT 1 FROM ${t.runs} WHERE id = $1 FOR UPDATE`, [held]);
  const later = new Date(Date.parse(await engine.store.now()) + 3 * hour);
  expect(await engine.runtime.pass.wake(later)).toMatchObject({ timeouts: 1, errors: [] });
  expect((await engine.history(other)).run).toMatchObject({ status: 'FAILED', failureCode: 'RUN_TIMEOUT' });
  expect((await engine.statuses(held)).run).toBe('RUNNING');
  await runner.rollbackTransaction();
  await runner.release();
  expect(await engine.runtime.pass.wake(later)).toMatchObject({ timeouts: 1, errors: [] });
  expect((await engine.statuses(held)).run).toBe('FAILED');
});

it('FAULT L2, CANCEL-2: a cancel during a long stage ends the run there', async () => {
  const begun = signal();
  const reasons: string[] = [];
  let later = 0;
  const body = async (ctx: StageContext): Promise<void> => {
    begun.fire();
    await new Promise<void>((resolve) => ctx.abortSignal.addEventListener('abort', () => resolve()));
    reasons.push((ctx.abortSignal.reason as { reason: string }).reason);
  };
  const flow = workflow('flow', [
    { key: 'long', execute: body },
    { key: 'next', execute: () => ++later },
  ]);
  const engine = await engineOf([flow]);
  const runId = await engine.start(flow);
  engine.runtime.worker.start();
  await begun;
  await engine.cancel(runId);
  await engine.runtime.worker.cancelled([runId]);
  await engine.runtime.worker.idle();
  expect([reasons, later, await engine.statuses(runId)]).toEqual([
    ['cancelled'],
    0,
    { run: 'CANCELLED', long: 'CANCELLED' },
  ]);
});

it('LEASE-3, FAULT L1: what a dead process held is taken over within the lease, and its late result is dropped', async () => {
  const goOn = signal();
  const begun = signal();
  let executions = 0;
  const flow = workflow('flow', [
    {
      key: 'a',
      execute: async () => {
        if (++executions > 1) return 'second';
        begun.fire();
        await goOn;
        return 'first';
      },
    },
  ]);
  const [dead, alive] = [await engineOf([flow]), await engineOf([flow])];
  const runId = await dead.start(flow);
  dead.runtime.worker.start();
  await begun;
  alive.store.clockOffsetMs = 6 * 60_000;
  expect(await alive.runtime.pass.wake()).toMatchObject({ reclaimed: 1, errors: [] });
  await alive.drain();
  goOn.fire();
  await dead.runtime.worker.idle();
  expect(await alive.output(runId)).toBe('second');
  expect((await alive.history(runId)).attempts).toMatchObject([{ code: 'LEASE_EXPIRED' }]);
});

it('JOB-4: an idle worker and an idle wake pass cost one statement a look', async () => {
  const flow = workflow('flow', [{ key: 'a', execute: () => 1 }]);
  const engine = await engineOf([flow]);
  expect(await engine.runtime.worker.runOnce()).toBe(0);
  expect(await engine.runtime.pass.wake()).toMatchObject({ reclaimed: 0, errors: [] });
});
