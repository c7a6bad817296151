import type { StageContext } from '../../../lib/interfaces/index.js';
import { MemoryDatabase } from '../../../lib/testing/memory/index.js';
import { BrokenStore, TransientError } from './support/broken-store.js';
import { workflow } from './support/pipeline.js';
import { signal, turns } from './support/signals.js';
import { TestEngine, type TestEngineGiven } from './support/test-engine.js';

const engines: TestEngine[] = [];
afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
});

const MINUTE = 60_000;

function engineOf(nodes: Parameters<typeof workflow>[1], given: TestEngineGiven = {}) {
  const store = new BrokenStore();
  const flow = workflow('flow', nodes);
  const engine = new TestEngine([flow], { wrap: store.wrap, ...given });
  engines.push(engine);
  return { engine, flow, store, worker: engine.runtime.worker };
}

/** A claim by a process that dies with it. */
async function claimAndDie(engine: TestEngine): Promise<void> {
  const { claimed } = await engine.store.claim({ workerId: 'dead', limit: 1, queues: null, unserved: [] });
  expect(claimed).toHaveLength(1);
}

describe('the reaper', () => {
  it('LEASE-3: requeues the first loss at once, without using up an attempt, and says so on the attempt', async () => {
    const { engine, flow } = engineOf([{ key: 'a', execute: (ctx: StageContext) => ctx.attempt }]);
    const runId = await engine.start(flow);
    await claimAndDie(engine);
    engine.clock.advance(5 * MINUTE + 1);
    expect(await engine.runtime.pass.wake()).toMatchObject({ reclaimed: 1, errors: [] });
    const { attempts } = await engine.history(runId);
    expect(attempts).toMatchObject([{ attempt: 1, code: 'LEASE_EXPIRED', workerId: 'dead' }]);
    expect(attempts[0]!.message).toMatch(/^LEASE_HEARTBEAT_LOST/);
    await engine.drain();
    expect(await engine.output(runId)).toBe(1);
  });

  it('LEASE-3: delays further losses by the backoff, and fails LEASE_EXPIRED at maxLosses', async () => {
    const { engine, flow } = engineOf([{ key: 'a', execute: () => 1 }], {
      options: { lease: { maxLosses: 3 }, retry: { backoff: '1 min', jitter: 0 } },
    });
    const runId = await engine.start(flow);
    await claimAndDie(engine);
    engine.clock.advance(6 * MINUTE);
    await engine.runtime.pass.wake();
    await claimAndDie(engine);
    engine.clock.advance(6 * MINUTE);
    await engine.runtime.pass.wake();
    expect((await engine.store.claim({ workerId: 'x', limit: 1, queues: null, unserved: [] })).claimed).toEqual([]);
    engine.clock.advance(MINUTE);
    await engine.runtime.pass.wake();
    await claimAndDie(engine);
    engine.clock.advance(6 * MINUTE);
    await engine.runtime.pass.wake();
    const { run, attempts } = await engine.history(runId);
    expect(run).toMatchObject({ status: 'FAILED', failureCode: 'LEASE_EXPIRED', failedNode: 'a' });
    expect(run.failureMessage).toContain('loss 3 of 3');
    expect(attempts).toHaveLength(3);
  });

  it('LEASE-4: an attempt past the absolute cap fails for good although its heart beats', async () => {
    const goOn = signal();
    const { engine, flow, worker } = engineOf([{ key: 'a', execute: () => goOn }], {
      options: { lease: { absoluteTimeout: '10 min' }, worker: { pollInterval: '1 h' } },
    });
    const runId = await engine.start(flow);
    worker.start();
    await turns();
    for (let beat = 0; beat < 3; beat++) {
      engine.clock.advance(4 * MINUTE);
      // Asks for its leases, as the heartbeat does.
      await worker.cancelled([runId]);
    }
    expect(await engine.runtime.pass.wake()).toMatchObject({ reclaimed: 1 });
    const { run } = await engine.history(runId);
    expect(run).toMatchObject({ status: 'FAILED', failureCode: 'LEASE_ABSOLUTE_CAP' });
    expect(run.failureMessage).toMatch(/^LEASE_ABSOLUTE_CAP/);
    goOn.fire();
    await worker.idle();
    expect((await engine.statuses(runId)).run).toBe('FAILED');
  });

  it('FAULT C2: a longer timeout of the stage raises the cap for it', async () => {
    const { engine, flow } = engineOf([{ key: 'a', execute: () => 1, timeoutMs: 30 * MINUTE }], {
      options: { lease: { absoluteTimeout: '10 min', staleThreshold: '1 h' } },
    });
    await engine.start(flow);
    await claimAndDie(engine);
    engine.clock.advance(20 * MINUTE);
    expect(await engine.runtime.pass.wake()).toMatchObject({ reclaimed: 0 });
    engine.clock.advance(20 * MINUTE);
    expect(await engine.runtime.pass.wake()).toMatchObject({ reclaimed: 1 });
  });

  it('FAULT C4: of two processes that saw the same stale lease one reaps it', async () => {
    const database = new MemoryDatabase();
    const one = engineOf([{ key: 'a', execute: () => 1 }], { database });
    const two = engineOf([{ key: 'a', execute: () => 1 }], { database, clock: one.engine.clock });
    const runId = await one.engine.start(one.flow);
    await claimAndDie(one.engine);
    one.engine.clock.advance(6 * MINUTE);
    const passes = await Promise.all([one.engine.runtime.pass.wake(), two.engine.runtime.pass.wake()]);
    expect(passes.map(({ reclaimed }) => reclaimed).sort()).toEqual([0, 1]);
    expect((await one.engine.history(runId)).attempts).toHaveLength(1);
  });

  it('FAULT C7: rows that can not be reaped, and a database that goes away, keep nobody from the next pass', async () => {
    const { engine, flow, store } = engineOf([{ key: 'a', execute: () => 1 }]);
    const runIds: string[] = [];
    for (let run = 0; run < 3; run++) {
      runIds.push(await engine.start(flow));
      await claimAndDie(engine);
    }
    engine.clock.advance(6 * MINUTE);
    store.instead.reap = () => Promise.reject(new TransientError('restarting'));
    expect((await engine.runtime.pass.wake()).errors).toMatchObject([{ part: 'leases' }]);
    store.instead.reap = (real, records, ...rest) =>
      records.some(({ expired }) => expired.runId === runIds[1])
        ? Promise.reject(new Error('odd row'))
        : real(records, ...rest);
    expect(await engine.runtime.pass.wake()).toMatchObject({ reclaimed: 2, errors: [] });
    expect(engine.log.matching('error', 'odd row')).toHaveLength(1);
    delete store.instead.reap;
    expect(await engine.runtime.pass.wake()).toMatchObject({ reclaimed: 1 });
  });
});

describe('the heartbeat', () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance'] }));
  afterEach(() => jest.useRealTimers());

  it('LEASE-2, FAULT C1: extends all leases in one statement an interval, so a long body runs once', async () => {
    const goOn = signal();
    let ran = 0;
    const { engine, flow, store, worker } = engineOf([{ key: 'a', execute: () => (ran++, goOn) }], {
      options: { lease: { staleThreshold: '150 s' }, worker: { pollInterval: '1 h' } },
    });
    await engine.start(flow);
    await engine.start(flow);
    worker.start();
    await turns();
    for (let minute = 0; minute < 9; minute++) {
      engine.clock.advance(MINUTE);
      await jest.advanceTimersByTimeAsync(MINUTE);
      await engine.runtime.pass.wake();
    }
    goOn.fire();
    await worker.idle();
    expect(store.argsOf('extendLeases').map(([leases]) => leases.length)).toEqual(Array(9).fill(2));
    expect(ran).toBe(2);
    await jest.advanceTimersByTimeAsync(10 * MINUTE);
    expect(store.count('extendLeases')).toBe(9);
  });

  it('LEASE-2: goes on while an outcome waits to be written', async () => {
    const { engine, flow, store, worker } = engineOf([{ key: 'a', execute: () => 1 }], {
      options: { worker: { pollInterval: '1 h' } },
    });
    store.instead.record = () => Promise.reject(new TransientError('read-only'));
    const runId = await engine.start(flow);
    worker.start();
    await turns();
    await jest.advanceTimersByTimeAsync(2 * MINUTE);
    expect(store.count('extendLeases')).toBeGreaterThanOrEqual(2);
    delete store.instead.record;
    await jest.advanceTimersByTimeAsync(10_000);
    await worker.idle();
    expect((await engine.statuses(runId)).run).toBe('COMPLETED');
  });

  it('LEASE-5: a record that moved its own lease on is not taken for a lost one while its answer is under way', async () => {
    const answer = signal();
    const { engine, flow, store, worker } = engineOf([{ key: 'a', execute: () => 1 }]);
    store.instead.record = async (real, ...args) => {
      const verdicts = await real(...args);
      await answer;
      return verdicts;
    };
    const runId = await engine.start(flow);
    worker.start();
    await turns();
    await jest.advanceTimersByTimeAsync(MINUTE);
    answer.fire();
    await worker.idle();
    expect(store.count('extendLeases')).toBe(1);
    expect([(await engine.statuses(runId)).run, engine.log.lines]).toEqual(['COMPLETED', []]);
  });

  it('LEASE-5: a body whose lease is lost is told so by its signal', async () => {
    const reasons: string[] = [];
    const body = (ctx: StageContext) =>
      new Promise<void>((resolve) =>
        ctx.abortSignal.addEventListener(
          'abort',
          () => (reasons.push((ctx.abortSignal.reason as { reason: string }).reason), resolve()),
        ),
      );
    const { engine, flow, worker } = engineOf([{ key: 'a', execute: body }], {
      options: { worker: { pollInterval: '1 h' } },
    });
    await engine.start(flow);
    worker.start();
    await turns();
    engine.clock.advance(6 * MINUTE);
    const other = engineOf([{ key: 'a', execute: () => 'other' }], { database: engine.database, clock: engine.clock });
    await other.engine.runtime.pass.wake();
    await jest.advanceTimersByTimeAsync(MINUTE);
    await turns();
    expect(reasons).toEqual(['lease-lost']);
  });

  it('tries again by the backoff, not by the interval, when the database is away', async () => {
    const goOn = signal();
    const { engine, flow, store, worker } = engineOf([{ key: 'a', execute: () => goOn }], {
      options: { worker: { pollInterval: '1 h' } },
    });
    let failures = 2;
    store.instead.extendLeases = (real, leases) =>
      failures-- > 0 ? Promise.reject(new TransientError('gone')) : real(leases);
    await engine.start(flow);
    worker.start();
    await turns();
    await jest.advanceTimersByTimeAsync(MINUTE + 500);
    expect(store.count('extendLeases')).toBe(3);
    goOn.fire();
    await worker.idle();
  });
});
