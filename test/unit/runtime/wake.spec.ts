import { BrokenStore, TransientError } from './support/broken-store.js';
import { workflow } from './support/pipeline.js';
import { signal, turns } from './support/signals.js';
import { TestEngine, type TestEngineGiven } from './support/test-engine.js';

const engines: TestEngine[] = [];
afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
});

const MINUTE = 60_000;
const IDLE = {
  timers: 0,
  retries: 0,
  timeouts: 0,
  polls: 0,
  escalations: 0,
  schedules: 0,
  reclaimed: 0,
  requeued: 0,
  flushed: 0,
  stuck: 0,
  pruned: 0,
  errors: [],
};

function engineOf(nodes: Parameters<typeof workflow>[1], given: TestEngineGiven = {}) {
  const store = new BrokenStore();
  const flow = workflow('flow', nodes);
  const engine = new TestEngine([flow], { wrap: store.wrap, ...given });
  engines.push(engine);
  return { engine, flow, store, worker: engine.runtime.worker, pass: engine.runtime.pass };
}

const fails = (retry: { maxAttempts?: number; backoff?: string }) => ({
  key: 'a',
  retry: { jitter: 0, ...retry },
  execute: (ctx: { attempt: number }) => {
    if (ctx.attempt === 1) throw new Error('no');
    return 'second';
  },
});

describe('a wake pass', () => {
  it('WAKE-2, JOB-4: with nothing to do reports nothing and costs one statement', async () => {
    const { pass, store } = engineOf([{ key: 'a', execute: () => 1 }]);
    expect(await pass.wake()).toEqual(IDLE);
    expect(store.calls.map(({ method }) => method)).toEqual(['probe']);
  });

  it('WAKE-2: counts delayed retries that came due, which then run', async () => {
    const { engine, flow, pass } = engineOf([fails({ backoff: '1 min' })]);
    const runId = await engine.start(flow);
    await engine.drain();
    expect(await pass.wake()).toMatchObject({ retries: 0 });
    engine.clock.advance(MINUTE);
    expect(await pass.wake()).toMatchObject({ retries: 1 });
    await engine.drain();
    expect(await engine.output(runId)).toBe('second');
  });

  it('WAKE-5: with an instant ahead, judges what is due there, and leases by the clock', async () => {
    const { engine, flow, pass } = engineOf([fails({ backoff: '1 h' })]);
    const runId = await engine.start(flow);
    await engine.drain();
    await engine.start(flow);
    await engine.store.claim({ workerId: 'other', limit: 1, queues: null, unserved: [] });
    expect(await pass.wake(new Date(engine.clock.now() + 2 * 60 * MINUTE))).toMatchObject({ retries: 1, reclaimed: 0 });
    await engine.drain();
    expect(await engine.output(runId)).toBe('second');
  });

  it('CANCEL-4: fails runs past their deadline', async () => {
    const { engine, flow, pass } = engineOf([{ key: 'a', execute: () => 1 }]);
    const runId = await engine.start(flow, null, { deadlineMs: MINUTE });
    engine.clock.advance(2 * MINUTE);
    expect(await pass.wake()).toMatchObject({ timeouts: 1 });
    expect((await engine.history(runId)).run).toMatchObject({ status: 'FAILED', failureCode: 'RUN_TIMEOUT' });
  });

  it('WAKE-1: a part that fails stands in the report and keeps no other from its work', async () => {
    const { engine, flow, pass, store } = engineOf([{ key: 'a', execute: () => 1 }]);
    await engine.start(flow);
    await engine.store.claim({ workerId: 'dead', limit: 1, queues: null, unserved: [] });
    await engine.start(flow, null, { delayMs: 1_000 });
    store.instead.findExpired = () => Promise.reject(new Error('broken'));
    engine.clock.advance(6 * MINUTE);
    const report = await pass.wake();
    expect(report.errors).toEqual([{ part: 'leases', message: 'Error: broken' }]);
    expect(store.count('promoteDelayed')).toBe(1);
    expect(report.flushed).toBeGreaterThan(0);
  });

  it('WAKE-1: a database that is away fails the pass, not the caller, and is told once', async () => {
    const { engine, pass, store } = engineOf([{ key: 'a', execute: () => 1 }]);
    store.instead.probe = () => Promise.reject(new TransientError('gone'));
    expect((await pass.wake()).errors).toHaveLength(1);
    await pass.wake();
    delete store.instead.probe;
    expect(await pass.wake()).toEqual(IDLE);
    expect(engine.log.lines.map(({ level }) => level)).toEqual(['warn', 'log']);
  });

  it('WAKE-7: ticks never overlap: a tick while a pass runs is that pass', async () => {
    const { pass, store } = engineOf([{ key: 'a', execute: () => 1 }]);
    const open = signal();
    store.instead.probe = async (real, thresholds) => {
      await open;
      return real(thresholds);
    };
    const ticks = [pass.runOnce(), pass.runOnce()];
    open.fire();
    await Promise.all(ticks);
    expect(store.count('probe')).toBe(1);
  });

  it('IDEM-2: prunes start keys whose time is over', async () => {
    const { engine, flow, pass } = engineOf([{ key: 'a', execute: () => 1 }]);
    const idempotency = { digest: Buffer.alloc(32, 1), inputDigest: Buffer.alloc(32, 2), ttlMs: MINUTE };
    await engine.start(flow, null, { idempotency });
    await engine.drain();
    engine.clock.advance(2 * MINUTE);
    expect(await pass.wake()).toMatchObject({ pruned: 1 });
  });
});

describe('stuck runs', () => {
  /** A run whose job somebody deleted. */
  async function loseJobs(engine: TestEngine, runId: string): Promise<void> {
    const { journal, jobs, jobsOf } = engine.database;
    journal.transaction(() => [...jobsOf.of(runId)].forEach((job) => jobs.remove(job)));
  }

  it('STUCK-1: queues a run again whose job was merely lost, once, and fails it the second time with its stages named', async () => {
    const { engine, flow, pass } = engineOf([
      { key: 'a', execute: () => 1 },
      { key: 'b', execute: () => 2 },
    ]);
    const runId = await engine.start(flow);
    await loseJobs(engine, runId);
    engine.clock.advance(20 * MINUTE);
    expect(await pass.wake()).toMatchObject({ requeued: 1, stuck: 0 });
    await loseJobs(engine, runId);
    engine.clock.advance(20 * MINUTE);
    expect(await pass.wake()).toMatchObject({ requeued: 0, stuck: 1 });
    const { run } = await engine.history(runId);
    expect(run).toMatchObject({ status: 'FAILED', failureCode: 'STUCK_RUN_REAPED' });
    expect(run.failureMessage).toContain('a PENDING');
  });

  it('STUCK-1: a run that was queued again goes on', async () => {
    const { engine, flow, pass } = engineOf([{ key: 'a', execute: () => 'done' }]);
    const runId = await engine.start(flow);
    await loseJobs(engine, runId);
    engine.clock.advance(20 * MINUTE);
    await pass.wake();
    await engine.drain();
    expect(await engine.output(runId)).toBe('done');
  });

  it('STUCK-1: a run that waits for its retry, or for its time, is not stuck', async () => {
    const { engine, flow, pass } = engineOf([fails({ backoff: '7 days' })]);
    await engine.start(flow);
    await engine.drain();
    await engine.start(flow, null, { delayMs: 100 * 60 * MINUTE });
    engine.clock.advance(60 * MINUTE);
    expect(await pass.wake()).toMatchObject({ requeued: 0, stuck: 0 });
  });

  it('STUCK-1: a run that can not be dealt with keeps nobody from it', async () => {
    const { engine, flow, pass, store } = engineOf([{ key: 'a', execute: () => 1 }]);
    const runIds = [await engine.start(flow), await engine.start(flow)];
    for (const runId of runIds) await loseJobs(engine, runId);
    engine.clock.advance(20 * MINUTE);
    store.instead.changeRun = ((real: (...args: unknown[]) => unknown, runId: string, ...rest: unknown[]) =>
      runId === runIds[0] ? Promise.reject(new Error('odd')) : real(runId, ...rest)) as never;
    expect(await pass.wake()).toMatchObject({ requeued: 1, errors: [] });
    expect(engine.log.matching('error', 'odd')).toHaveLength(1);
  });
});

describe('the due timer', () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
  afterEach(() => jest.useRealTimers());

  /** Both clocks: the database's and the process's own. */
  async function pass(engine: TestEngine, ms: number): Promise<void> {
    engine.clock.advance(ms);
    await jest.advanceTimersByTimeAsync(ms);
    await turns();
  }

  it('WAKE-6: makes a retry that this process recorded due within 100 ms of its time, without a tick', async () => {
    const { engine, flow, worker } = engineOf([fails({ backoff: '1 min' })], {
      options: { worker: { pollInterval: '1 h' } },
    });
    const runId = await engine.start(flow);
    engine.runtime.dueTimer.start();
    worker.start();
    await turns();
    await pass(engine, MINUTE - 1);
    expect((await engine.statuses(runId)).run).toBe('RUNNING');
    await pass(engine, 50);
    expect((await engine.statuses(runId)).run).toBe('COMPLETED');
  });

  it('FAULT B1: a retry due in 30 days runs then, not at once and not never', async () => {
    const days = 24 * 60 * MINUTE;
    const { engine, flow, worker, store } = engineOf([fails({ backoff: '30 days' })], {
      options: { worker: { pollInterval: '1 h' } },
    });
    const runId = await engine.start(flow);
    engine.runtime.dueTimer.start();
    worker.start();
    await turns();
    await pass(engine, 29 * days);
    expect([(await engine.statuses(runId)).run, store.count('promoteDelayed')]).toEqual(['RUNNING', 0]);
    await pass(engine, days + 50);
    expect((await engine.statuses(runId)).run).toBe('COMPLETED');
  });

  it('FAULT B7: what was due while no process lived is due with the first pass', async () => {
    const {
      engine,
      flow,
      worker,
      pass: wake,
    } = engineOf([{ key: 'a', execute: () => 1 }], { options: { worker: { pollInterval: '1 h' } } });
    const runId = await engine.start(flow, null, { delayMs: MINUTE });
    engine.clock.advance(2 * MINUTE);
    worker.start();
    await wake.runOnce();
    await turns();
    expect((await engine.statuses(runId)).run).toBe('COMPLETED');
  });
});
