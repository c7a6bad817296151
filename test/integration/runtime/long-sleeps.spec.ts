import { DataSource } from 'typeorm';
import { MAX_TIMER_MS } from '../../../lib/engine/time/index.js';
import type { WorkflowStore } from '../../../lib/engine/ports/index.js';
import type { StageContext } from '../../../lib/interfaces/index.js';
import { createPostgresStore } from '../../../lib/persistence/index.js';
import { runMigrations } from '../../../lib/persistence/migrations/index.js';
import { tableNames } from '../../../lib/persistence/table-names.js';
import { createDatabase, startEmbeddedPostgres } from '../../../lib/testing/index.js';
import { freshDatabase } from '../../support/database.js';
import { until } from '../../support/until.js';
import { workflow, type TestWorkflow } from '../../unit/runtime/support/pipeline.js';
import { signal } from '../../unit/runtime/support/signals.js';
import { TestEngine, type TestEngineGiven } from '../../unit/runtime/support/test-engine.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let host: DataSource;
const engines: TestEngine[] = [];
beforeAll(async () => {
  host = await (await freshDatabase()).openDataSource();
});
afterAll(() => host.destroy());
afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
});

async function engineOn(flow: TestWorkflow, given: TestEngineGiven = {}, on: DataSource = host): Promise<TestEngine> {
  const engine = new TestEngine([flow], { ...given, store: await createPostgresStore(on) });
  engines.push(engine);
  return engine;
}

/** Everything moves by itself, as in an app. Resolves when so many runs have ended. */
function lives({ runtime, sink }: TestEngine, runs = 1): Promise<void> {
  const done = signal();
  let ended = 0;
  sink.hear = ({ type }) => {
    if (type === 'run:completed' && ++ended === runs) done.fire();
  };
  for (const part of [runtime.relay, runtime.dueTimer, runtime.waitTimer, runtime.worker]) part.start();
  return done;
}

const sleeper = (ms: number): TestWorkflow =>
  workflow('flow', [{ key: 'a', execute: ({ step }: StageContext) => step.sleep('nap', ms) }]);

it('FAULT B7, STEP-3: 200 sleeps of 1 ms in one body end, one after another, waiting for no tick', async () => {
  let passes = 0;
  const flow = workflow('flow', [
    {
      key: 'a',
      execute: async ({ step }: StageContext) => {
        passes++;
        for (let n = 0; n < 200; n++) await step.sleep('blink', 1);
        return 'awake';
      },
    },
  ]);
  const engine = await engineOn(flow);
  const runId = await engine.start(flow);
  const begun = performance.now();
  await lives(engine);
  const ms = performance.now() - begun;
  console.info(`200 sleeps of 1 ms: ${(ms / 200).toFixed(1)} ms each, ${passes} passes over the body`);
  expect(await engine.output(runId)).toBe('awake');
  expect((await engine.history(runId)).stageRuns[0]).toMatchObject({ attempt: 1 });
  // Waiting for polls of 1 s they would take minutes, for ticks of 5 s a quarter of an hour.
  expect(ms).toBeLessThan(100_000);
});

describe.each([
  ['2^31 - 1 ms', MAX_TIMER_MS],
  ['2^31 ms', MAX_TIMER_MS + 1],
  ['400 days', 400 * DAY],
])('a sleep of %s', (_, ms) => {
  it('FAULT B1, STEP-3: does not end at once, and keeps no timer busy', async () => {
    let fires = 0;
    const blink = workflow('blink', [{ key: 'a', execute: ({ step }: StageContext) => step.sleep('blink', 50) }]);
    const flow = sleeper(ms);
    const store = await createPostgresStore(host);
    const engine = new TestEngine([flow, blink], {
      store,
      wrap: (inner) => counted(inner, 'fireDue', () => fires++),
    });
    engines.push(engine);
    const runId = await engine.start(flow);
    const done = lives(engine);
    await until(async () => (await engine.statuses(runId)).a === 'SUSPENDED');
    // A timer that fires at once would have done so many times until this one has.
    await engine.start(blink);
    engine.runtime.worker.kick();
    await done;
    expect(await engine.statuses(runId)).toEqual({ run: 'RUNNING', a: 'SUSPENDED' });
    expect(fires).toBeLessThan(10);
  });

  it('FAULT B1, STEP-3: ends when its time has come, not a second before', async () => {
    const flow = sleeper(ms);
    const engine = await engineOn(flow);
    const runId = await engine.start(flow);
    await engine.drain();
    await engine.travel(ms - 1_000);
    expect(await engine.statuses(runId)).toEqual({ run: 'RUNNING', a: 'SUSPENDED' });
    await engine.travel(1_000);
    expect(await engine.statuses(runId)).toEqual({ run: 'COMPLETED', a: 'COMPLETED' });
  });
});

it('FAULT B7: what came due while nobody was there is due now, and once', async () => {
  const did: string[] = [];
  const flow = workflow('flow', [
    {
      key: 'a',
      execute: async ({ step }: StageContext) => {
        await step.sleep('nap', '1h');
        await step.run('up', () => void did.push('up'));
      },
    },
  ]);
  const engine = await engineOn(flow);
  const runId = await engine.start(flow);
  await engine.drain();
  engine.passTime(10 * DAY);
  expect(await engine.runtime.pass.wake()).toMatchObject({ timers: 1, errors: [] });
  expect(await engine.runtime.pass.wake()).toMatchObject({ timers: 0, errors: [] });
  await engine.drain();
  expect(await engine.statuses(runId)).toEqual({ run: 'COMPLETED', a: 'COMPLETED' });
  expect(did).toEqual(['up']);
});

it('FAULT B5: a process that is gone after its sleep was written, before the stage was suspended: still asleep', async () => {
  const did: string[] = [];
  const begun = signal();
  const never = new Promise<void>(() => undefined);
  let dead = false;
  const flow = workflow('flow', [
    {
      key: 'a',
      execute: async ({ step }: StageContext) => {
        // The sleep is written while the step beside it runs.
        const work = step.run('work', async () => {
          did.push('work');
          begun.fire();
          if (!dead) await never;
        });
        await Promise.all([step.sleep('nap', '2h'), work]);
        did.push('awake');
      },
    },
  ]);
  const first = await engineOn(flow);
  const runId = await first.start(flow);
  first.runtime.worker.start();
  await begun;
  const rows = () =>
    host.query(`SELECT due_at FROM workflow_steps WHERE run_id = $1 AND key = 'nap#1' AND open`, [runId]);
  const written = await until(async () => {
    const due = (await rows()) as { due_at: Date }[];
    return due.length > 0 && due;
  });
  // Its heartbeats end with it; nothing of it is recorded.
  dead = true;

  const second = await engineOn(flow);
  // Later than every lease of the first.
  await second.travel(6 * 60_000);
  expect(await second.statuses(runId)).toEqual({ run: 'RUNNING', a: 'SUSPENDED' });
  expect(did).toEqual(['work', 'work']);
  expect(await rows()).toEqual(written);
  await second.travel(HOUR);
  expect(await second.statuses(runId)).toEqual({ run: 'RUNNING', a: 'SUSPENDED' });
  await second.travel(HOUR);
  expect(await second.statuses(runId)).toEqual({ run: 'COMPLETED', a: 'COMPLETED' });
  expect(did).toEqual(['work', 'work', 'awake']);
});

it('STEP-3: a database that restarts while a stage sleeps changes nothing of when it wakes', async () => {
  const server = await startEmbeddedPostgres();
  const on = await new DataSource({
    type: 'postgres',
    url: await createDatabase(server.url()),
    poolErrorHandler: () => undefined,
  }).initialize();
  await runMigrations(on, tableNames());
  const flow = sleeper(3_000);
  const engine = await engineOn(flow, {}, on);
  const runId = await engine.start(flow);
  const done = lives(engine);
  await until(async () => (await engine.statuses(runId)).a === 'SUSPENDED');
  const [before] = await dueOf(on, runId);
  await server.restart('fast');
  const [after] = await dueOf(on, runId);
  await done;
  const { stageRuns } = await engine.history(runId);
  expect(after).toEqual(before);
  expect(stageRuns[0]).toMatchObject({ status: 'COMPLETED', attempt: 1, losses: 0 });
  await engines.pop()!.close();
  await on.destroy();
  await server.stop();
});

const dueOf = (on: DataSource, runId: string): Promise<unknown[]> =>
  on.query('SELECT due_at FROM workflow_steps WHERE run_id = $1', [runId]);

/** The store, with the calls of one of its methods told. */
function counted(store: WorkflowStore, method: keyof WorkflowStore, told: () => void): WorkflowStore {
  return new Proxy(store, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]): unknown => {
        if (name === method) told();
        return value.apply(target, given) as unknown;
      };
    },
    set: (target, name, value) => Reflect.set(target, name, value, target),
  });
}
