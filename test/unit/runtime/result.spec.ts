import { BrokenStore, TransientError } from './support/broken-store.js';
import { MemoryDatabase } from '../../../lib/testing/memory/index.js';
import { workflow } from './support/pipeline.js';
import { turns } from './support/signals.js';
import { TestEngine, type TestEngineGiven } from './support/test-engine.js';

const engines: TestEngine[] = [];
afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
});

function engineOf(given: TestEngineGiven = {}) {
  const store = new BrokenStore();
  const flow = workflow('flow', [{ key: 'a', execute: (ctx) => ctx.input }]);
  const engine = new TestEngine([flow], { wrap: store.wrap, ...given });
  engines.push(engine);
  engine.runtime.results.start();
  return { engine, flow, store, results: engine.runtime.results };
}

const ALL = { all: true } as const;

it('RUN-4: resolves with the run when it ends here, and marks it as awaited in one statement for all', async () => {
  const { engine, flow, store, results } = engineOf();
  const runIds = [await engine.start(flow, 1), await engine.start(flow, 2)];
  const waits = runIds.map((runId) => results.wait(runId, ALL));
  await turns();
  await engine.drain();
  expect((await Promise.all(waits)).map(({ output }) => output)).toEqual(['1', '2']);
  expect(store.count('awaitRuns')).toBe(1);
});

it('RUN-4: resolves at once for a run that has ended', async () => {
  const { engine, flow, results } = engineOf();
  const runId = await engine.start(flow, 1);
  await engine.drain();
  expect(await results.wait(runId, ALL)).toMatchObject({ status: 'COMPLETED' });
});

it('RUN-4: is told by a hint of what ended elsewhere', async () => {
  // No poll comes to it by itself.
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  try {
    const database = new MemoryDatabase();
    const one = engineOf({ database });
    const two = engineOf({ database, clock: one.engine.clock, notifier: one.engine.notifier });
    const runId = await one.engine.start(one.flow, 1);
    const wait = one.results.wait(runId, ALL);
    await turns();
    await two.engine.drain();
    expect(await wait).toMatchObject({ status: 'COMPLETED' });
  } finally {
    jest.useRealTimers();
  }
});

it('RUN-4: finds by polling what no hint told, in one statement for all', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  try {
    const database = new MemoryDatabase();
    const one = engineOf({ database });
    const two = engineOf({ database, clock: one.engine.clock });
    const runIds = [await one.engine.start(one.flow, 1), await one.engine.start(one.flow, 2)];
    const waits = runIds.map((runId) => one.results.wait(runId, ALL));
    await turns();
    await two.engine.drain();
    one.store.instead.readFinished = (() => {
      let failures = 1;
      return (real, ...args) => (failures-- > 0 ? Promise.reject(new TransientError('gone')) : real(...args));
    })() as (typeof one.store.instead)['readFinished'];
    for (let poll = 0; poll < 4; poll++) {
      await jest.advanceTimersByTimeAsync(500);
      await turns();
    }
    expect(await Promise.all(waits)).toHaveLength(2);
    expect(one.store.argsOf('readFinished').at(-1)![0]).toHaveLength(2);
  } finally {
    jest.useRealTimers();
  }
});

it('OWNER-5: a run of another owner never ends for a waiter', async () => {
  const { engine, flow, results } = engineOf();
  const runId = await engine.start(flow, 1, { ownerId: 'b' });
  let seen = false;
  const wait = results.wait(runId, { owner: 'a' }).then(
    () => (seen = true),
    (error: { code: string }) => error.code,
  );
  await turns();
  await engine.drain();
  await turns();
  expect(seen).toBe(false);
  results.stop();
  expect(await wait).toBe('SHUTTING_DOWN');
});

it('RUN-4, FAULT K38: rejects who waits at shutdown, and who comes later', async () => {
  const { engine, flow, results } = engineOf();
  const runId = await engine.start(flow, 1);
  const wait = results.wait(runId, ALL);
  results.stop();
  await expect(wait).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
  await expect(results.wait(runId, ALL)).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
});

it("RUN-4: gives up after the timeout, or with the caller's signal", async () => {
  const { engine, flow, results } = engineOf();
  const runId = await engine.start(flow, 1);
  await expect(results.wait(runId, ALL, { timeoutMs: 0 })).rejects.toMatchObject({ code: 'RESULT_TIMEOUT' });
  const abort = new AbortController();
  const wait = results.wait(runId, ALL, { signal: abort.signal });
  abort.abort(new Error('gone away'));
  await expect(wait).rejects.toThrow('gone away');
});
