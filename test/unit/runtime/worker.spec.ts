import type { StageContext } from '../../../lib/interfaces/index.js';
import { MemoryDatabase } from '../../../lib/testing/memory/index.js';
import { BrokenStore } from './support/broken-store.js';
import { workflow } from './support/pipeline.js';
import { signal, turns } from './support/signals.js';
import { TestEngine, type TestEngineGiven } from './support/test-engine.js';

const engines: TestEngine[] = [];
afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
});

function engineOf(
  workflows: Parameters<typeof workflow>[1] | ReturnType<typeof workflow>[],
  given: TestEngineGiven = {},
) {
  const flows =
    'compiled' in (workflows[0] as object)
      ? (workflows as ReturnType<typeof workflow>[])
      : [workflow('flow', workflows as never)];
  const engine = new TestEngine(flows, given);
  engines.push(engine);
  return { engine, flow: flows[0]!, worker: engine.runtime.worker };
}

describe('claiming', () => {
  it('JOB-4: a kick wakes an idle worker, and what it finds is claimed in one statement', async () => {
    const store = new BrokenStore();
    const { engine, flow, worker } = engineOf([{ key: 'a', execute: () => 1 }], { wrap: store.wrap });
    worker.start();
    await worker.idle();
    const before = store.count('claim');
    for (let run = 0; run < 10; run++) await engine.start(flow);
    for (let kick = 0; kick < 10; kick++) worker.kick();
    await turns(1);
    await worker.idle();
    expect(store.count('claim') - before).toBe(1);
    expect((await engine.store.countRuns({ all: true })).COMPLETED).toBe(10);
  });

  it('JOB-4: a hint from another process wakes it', async () => {
    const { engine, flow, worker } = engineOf([{ key: 'a', execute: () => 1 }]);
    worker.start();
    await worker.idle();
    const runId = await engine.start(flow);
    engine.notifier.publish({ work: true });
    await turns(1);
    await worker.idle();
    expect((await engine.statuses(runId)).run).toBe('COMPLETED');
  });

  it('JOB-4: a worker whose slots are nearly all held by long bodies still fills the rest', async () => {
    const ends = signal();
    const long = workflow('long', [{ key: 'a', execute: () => ends }]);
    const short = workflow('short', [{ key: 'a', execute: () => 1 }]);
    const { engine, worker } = engineOf([long, short], {
      options: { worker: { concurrency: 8, pollInterval: '1 h' } },
    });
    for (let run = 0; run < 7; run++) await engine.start(long);
    worker.start();
    await turns();
    const done = signal();
    engine.sink.hear = ({ type }) => type === 'run:completed' && done.fire();
    engine.runtime.relay.start();
    await engine.start(short);
    worker.kick();
    await done;
    ends.fire();
  });

  it('RUN-2: two processes share the work, and each run is taken forward once', async () => {
    const ran: string[] = [];
    const stages = ['a', 'b', 'c'].map((key) => ({
      key,
      execute: (ctx: StageContext) => void ran.push(`${ctx.run.id} ${key}`),
    }));
    const flow = workflow('flow', stages);
    const database = new MemoryDatabase();
    const one = engineOf([flow], { database });
    const two = engineOf([flow], { database, clock: one.engine.clock });
    for (let run = 0; run < 100; run++) await one.engine.start(flow);
    one.worker.start();
    two.worker.start();
    await Promise.all([one.worker.idle(), two.worker.idle()]);
    expect((await one.engine.store.countRuns({ all: true })).COMPLETED).toBe(100);
    expect(new Set(ran).size).toBe(300);
    expect(ran).toHaveLength(300);
  });

  it('RUN-6: takes only what stands in its queues', async () => {
    const { engine, flow, worker } = engineOf([{ key: 'a', execute: () => 1 }], {
      options: { worker: { queues: ['fast'], pollInterval: '1 h' } },
    });
    const slow = await engine.start(flow);
    const fast = await engine.start(flow, null, { queue: 'fast' });
    worker.start();
    await worker.idle();
    expect((await engine.statuses(slow)).a).toBe('PENDING');
    expect((await engine.statuses(fast)).run).toBe('COMPLETED');
  });

  it('FAULT G14: start twice is one loop, and a claim that fails for now is tried again', async () => {
    const store = new BrokenStore();
    const { engine, flow, worker } = engineOf([{ key: 'a', execute: () => 1 }], {
      wrap: store.wrap,
      options: { worker: { pollInterval: '10 ms' } },
    });
    const { TransientError } = await import('./support/broken-store.js');
    let failures = 2;
    store.instead.claim = (real, request) =>
      failures-- > 0 ? Promise.reject(new TransientError('gone')) : real(request);
    const done = signal();
    engine.sink.hear = ({ type }) => type === 'run:completed' && done.fire();
    engine.runtime.relay.start();
    await engine.start(flow);
    worker.start();
    worker.start();
    await done;
    expect(engine.log.matching('warn', 'The database does not answer')).toHaveLength(1);
    expect(engine.log.matching('log', 'The database answers again')).toHaveLength(1);
  });
});

it('JOB-4: a full worker tells other processes of new work, at once and then seldom', async () => {
  const goOn = signal();
  const { engine, flow, worker } = engineOf([{ key: 'a', execute: () => goOn }], {
    options: { worker: { concurrency: 1, pollInterval: '1 h' } },
  });
  await engine.start(flow);
  worker.start();
  await turns();
  for (let job = 0; job < 5; job++) worker.workAppeared(1, new Set(['default']));
  expect(engine.notifier.published).toEqual([{ work: true }]);
  goOn.fire();
});

describe('hand-off', () => {
  it('goes on with the next stage without a claim of its own', async () => {
    const store = new BrokenStore();
    const keys = ['a', 'b', 'c', 'd'];
    const { engine, flow, worker } = engineOf(
      keys.map((key) => ({ key, execute: () => key })),
      { wrap: store.wrap },
    );
    const runId = await engine.start(flow);
    await worker.runOnce();
    expect(store.count('claim')).toBe(1);
    expect(await engine.statuses(runId)).toEqual({
      run: 'COMPLETED',
      a: 'COMPLETED',
      b: 'COMPLETED',
      c: 'COMPLETED',
      d: 'COMPLETED',
    });
  });

  it('RUN-6: not before a job of higher priority', async () => {
    const order: string[] = [];
    const note = (key: string) => ({
      key,
      execute: (ctx: StageContext) => void order.push(`${String(ctx.run.input)} ${key}`),
    });
    let urgent: () => Promise<unknown> = async () => undefined;
    const first = {
      key: 'a',
      execute: async (ctx: StageContext) => {
        order.push(`${String(ctx.run.input)} a`);
        await urgent();
      },
    };
    const { engine, flow } = engineOf([first, note('b')], {
      options: { worker: { concurrency: 1, pollInterval: '1 h' } },
    });
    urgent = async () => {
      urgent = async () => undefined;
      await engine.start(flow, 'urgent', { priority: 10 });
    };
    await engine.start(flow, 'usual');
    await engine.drain();
    expect(order).toEqual(['usual a', 'urgent a', 'urgent b', 'usual b']);
  });
});

describe('versions this build does not serve', () => {
  it('GHOST-3: their jobs are put off with their attempt given back, told once, and hold nobody up', async () => {
    const store = new BrokenStore();
    const { engine, flow, worker } = engineOf([{ key: 'a', execute: () => 1 }], { wrap: store.wrap });
    const gone = workflow('gone', [{ key: 'x', execute: () => 1 }]);
    const lost = [await engine.start(gone), await engine.start(gone)];
    const served = await engine.start(flow);
    worker.start();
    await worker.idle();
    expect((await engine.statuses(served)).run).toBe('COMPLETED');
    for (const runId of lost) {
      const { run, stageRuns } = await engine.history(runId);
      expect([run.status, stageRuns[0]!.status, stageRuns[0]!.attempt]).toEqual(['RUNNING', 'PENDING', 0]);
    }
    expect(engine.log.matching('warn', 'does not serve gone@1')).toHaveLength(1);
    worker.kick();
    await turns();
    expect(store.argsOf('claim').at(-1)![0].unserved).toEqual([gone.key]);
  });

  it('GHOST-3: the delay grows with each deferral, to ten minutes', async () => {
    const { engine } = engineOf([{ key: 'a', execute: () => 1 }]);
    const gone = workflow('gone', [{ key: 'x', execute: () => 1 }]);
    const runId = await engine.start(gone);
    await engine.drain();
    engine.clock.advance(29_999);
    expect((await engine.store.promoteDelayed(10, 0)).promoted).toBe(0);
    engine.clock.advance(1);
    expect((await engine.store.promoteDelayed(10, 0)).promoted).toBe(1);
    expect((await engine.statuses(runId)).x).toBe('PENDING');
  });

  it('GHOST-3: a module loaded lazily is looked for before a job is put off', async () => {
    const { engine } = engineOf([{ key: 'a', execute: () => 1 }]);
    const late = workflow('late', [{ key: 'x', execute: () => 'late' }]);
    engine.definitions.lazy.push(late);
    const runId = await engine.start(late);
    await engine.drain();
    expect(await engine.output(runId)).toBe('late');
  });
});

describe('definitions that could not be read', () => {
  it('GHOST-3: whatever reading throws puts the job off, and costs the run neither an attempt nor a loss', async () => {
    const { engine } = engineOf([{ key: 'a', execute: () => 1 }]);
    const late = workflow('late', [{ key: 'x', execute: () => 'late' }]);
    const refresh = engine.definitions.refresh.bind(engine.definitions);
    engine.definitions.refresh = () => {
      throw new Error('permission denied for table workflow_graphs');
    };
    const runId = await engine.start(late);
    await engine.drain();
    const { stageRuns } = await engine.history(runId);
    expect(stageRuns[0]).toMatchObject({ status: 'PENDING', attempt: 0, losses: 0 });
    expect(engine.log.matching('error', `${late.key} could not be read`)).toHaveLength(1);
    engine.definitions.refresh = refresh;
    engine.definitions.lazy.push(late);
    refresh();
    engine.clock.advance(30_000);
    await engine.drain();
    expect(await engine.output(runId)).toBe('late');
  });
});

describe('shutdown', () => {
  it('LEASE-6: a body that ends within the grace is recorded, and nothing is begun after it', async () => {
    const store = new BrokenStore();
    const goOn = signal();
    const { engine, flow, worker } = engineOf(
      [
        { key: 'a', execute: () => goOn },
        { key: 'b', execute: () => 'b' },
      ],
      { wrap: store.wrap },
    );
    const runId = await engine.start(flow);
    worker.start();
    await turns();
    const stopped = worker.stop(10_000);
    await engine.start(flow);
    goOn.fire();
    await stopped;
    expect(await engine.statuses(runId)).toEqual({ run: 'RUNNING', a: 'COMPLETED', b: 'PENDING' });
    worker.kick();
    await turns();
    expect(store.count('claim')).toBe(1);
  });

  it('LEASE-6: after the grace bodies are aborted with shutdown, and what ignores it is handed back with its attempt', async () => {
    const reasons: unknown[] = [];
    const stays = signal();
    const obeys = (ctx: StageContext) =>
      new Promise((_, reject) =>
        ctx.abortSignal.addEventListener(
          'abort',
          () => (
            reasons.push((ctx.abortSignal.reason as { reason: string }).reason),
            reject(ctx.abortSignal.reason as Error)
          ),
        ),
      );
    const { engine, flow, worker } = engineOf([
      [
        { key: 'obeys', execute: obeys },
        { key: 'stays', execute: () => stays },
      ],
    ]);
    const runId = await engine.start(flow);
    worker.start();
    await turns();
    await worker.stop(0);
    const { stageRuns, attempts, run } = await engine.history(runId);
    expect(stageRuns.map(({ status, attempt }) => [status, attempt])).toEqual([
      ['PENDING', 0],
      ['PENDING', 0],
    ]);
    expect([attempts.length, run.status, reasons]).toEqual([0, 'RUNNING', ['shutdown']]);
    stays.fire();
  });

  it('LEASE-6: a body that throws after shutdown began is handed back', async () => {
    const goOn = signal();
    const { engine, flow, worker } = engineOf([
      {
        key: 'a',
        execute: () =>
          goOn.then(() => {
            throw new Error('the client is closed');
          }),
      },
    ]);
    const runId = await engine.start(flow);
    worker.start();
    await turns();
    const stopped = worker.stop(10_000);
    goOn.fire();
    await stopped;
    expect((await engine.history(runId)).stageRuns[0]).toMatchObject({
      status: 'PENDING',
      attempt: 0,
      errorCode: null,
    });
  });

  it('FAULT C5: what a claim under way brings after the drain began is handed back unbegun', async () => {
    const store = new BrokenStore();
    const answer = signal();
    let ran = 0;
    const { engine, flow, worker } = engineOf([{ key: 'a', execute: () => ++ran }], { wrap: store.wrap });
    store.instead.claim = async (real, request) => {
      const result = await real(request);
      await answer;
      return result;
    };
    const runId = await engine.start(flow);
    worker.start();
    await turns();
    const stopped = worker.stop(10_000);
    answer.fire();
    await stopped;
    expect(ran).toBe(0);
    expect((await engine.history(runId)).stageRuns[0]).toMatchObject({ status: 'PENDING', attempt: 0 });
  });

  it('FAULT C5: a process that drains begins nothing for callers either', async () => {
    const { engine, flow, worker } = engineOf([{ key: 'a', execute: () => 1 }]);
    const runId = await engine.start(flow);
    await worker.stop(0);
    expect(await engine.runtime.pump.processAvailable()).toMatchObject({ processed: 0 });
    const [{ id: stageRunId }] = (await engine.history(runId)).stageRuns as unknown as [{ id: string }];
    await expect(engine.runtime.pump.handleJob({ stageRunId })).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
    expect((await engine.history(runId)).stageRuns[0]).toMatchObject({ status: 'PENDING', attempt: 0 });
  });

  it('FAULT K14: stops within its bounds although the database never answers', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    try {
      const store = new BrokenStore();
      const { engine, flow, worker } = engineOf([{ key: 'a', execute: () => 1 }], { wrap: store.wrap });
      store.instead.record = () => new Promise(() => undefined);
      await engine.start(flow);
      worker.start();
      await turns();
      const stopped = worker.stop(1_000);
      await jest.advanceTimersByTimeAsync(10_000);
      await stopped;
      expect(engine.log.matching('error', 'could not be handed back')).toHaveLength(1);
    } finally {
      jest.useRealTimers();
    }
  });
});

describe('cancelling', () => {
  const body = (entered: { fire(v: void): void }, end: (ctx: StageContext) => unknown) => async (ctx: StageContext) => {
    entered.fire();
    await new Promise<void>((resolve) => ctx.abortSignal.addEventListener('abort', () => resolve()));
    return end(ctx);
  };

  it.each([
    ['returns', () => 'done'],
    [
      'throws',
      () => {
        throw new Error('stopped');
      },
    ],
    ['skips', (ctx: StageContext) => ctx.skip('stopped')],
  ])('CANCEL-2, FAULT L2: a body that %s after the cancel is dropped and nothing follows', async (_, end) => {
    const entered = signal();
    const store = new BrokenStore();
    let later = 0;
    const nodes = [
      { key: 'a', execute: body(entered, end) },
      { key: 'b', execute: () => ++later },
    ];
    const { engine, flow, worker } = engineOf(nodes, { wrap: store.wrap });
    const runId = await engine.start(flow);
    worker.start();
    await entered;
    await engine.cancel(runId);
    await worker.cancelled([runId]);
    await worker.idle();
    expect([await engine.statuses(runId), later]).toEqual([{ run: 'CANCELLED', a: 'CANCELLED' }, 0]);
    expect(store.count('record') + store.count('settle')).toBe(0);
  });

  it('FAULT F10: a cancel between the body and its record drops the outcome', async () => {
    const store = new BrokenStore();
    let cancel = async (): Promise<void> => undefined;
    const { engine, flow, worker } = engineOf(
      [
        { key: 'a', execute: () => 1 },
        { key: 'b', execute: () => 2 },
      ],
      { wrap: store.wrap },
    );
    store.instead.record = async (real, ...args) => {
      await cancel();
      return real(...args);
    };
    const runId = await engine.start(flow);
    cancel = () => engine.cancel(runId);
    await worker.runOnce();
    expect(await engine.statuses(runId)).toEqual({ run: 'CANCELLED', a: 'CANCELLED' });
  });

  it('CANCEL-3: the hook of the live stage runs in its context, and again when the body ends after it', async () => {
    const entered = signal();
    const goOn = signal();
    const hooks: unknown[] = [];
    const cancel = (ctx: StageContext): void => void hooks.push([ctx.run.id, ctx.owner, ctx.input]);
    const execute = async (): Promise<void> => {
      entered.fire();
      await goOn;
    };
    const { engine, flow, worker } = engineOf([{ key: 'a', execute, cancel }]);
    const runId = await engine.start(flow, 'in', { ownerId: 'team' });
    worker.start();
    await entered;
    await engine.cancel(runId);
    await worker.cancelled([runId]);
    worker.kick();
    await turns(10);
    expect(hooks).toEqual([[runId, 'team', 'in']]);
    goOn.fire();
    await turns(10);
    worker.kick();
    await turns(1);
    await worker.idle();
    expect(hooks).toHaveLength(2);
  });

  it('CANCEL-4: a terminated run calls no hook, also not when its body ends after it', async () => {
    const [entered, goOn] = [signal(), signal()];
    const hooks: unknown[] = [];
    const execute = async (): Promise<void> => {
      entered.fire();
      await goOn;
    };
    const { engine, flow, worker } = engineOf([{ key: 'a', execute, cancel: () => void hooks.push('called') }]);
    const runId = await engine.start(flow);
    worker.start();
    await entered;
    await engine.cancel(runId, { hooks: false });
    await worker.cancelled([runId]);
    goOn.fire();
    await turns(10);
    expect(await engine.jobCount(runId)).toBe(0);
    worker.kick();
    await turns(1);
    await worker.idle();
    expect(hooks).toEqual([]);
  });

  it('CANCEL-3: a hook that throws is tried five times, then told and given up', async () => {
    const entered = signal();
    let tries = 0;
    const execute = (ctx: StageContext): Promise<void> => {
      entered.fire();
      return new Promise((_, reject) => ctx.abortSignal.addEventListener('abort', () => reject(new Error('aborted'))));
    };
    const cancel = (): void => {
      tries++;
      throw new Error('the hook is broken');
    };
    const { engine, flow, worker } = engineOf([{ key: 'a', execute, cancel }]);
    const runId = await engine.start(flow);
    worker.start();
    await entered;
    await engine.cancel(runId);
    // Only the job of the cancel itself is of interest here.
    engine.store.addCancelJob = async () => undefined;
    await worker.cancelled([runId]);
    for (let round = 0; round < 7; round++) {
      await turns(3);
      engine.clock.advance(3_600_000);
      await engine.drain();
    }
    expect(tries).toBe(5);
    expect(engine.log.matching('error', 'given up')).toHaveLength(1);
  });

  it('GRP-3: a branch that fails for good cancels its siblings, whose signals fire', async () => {
    const entered = signal();
    const reasons: string[] = [];
    const waits = body(entered, (ctx) => void reasons.push((ctx.abortSignal.reason as { reason: string }).reason));
    const fails = async (): Promise<never> => {
      await entered;
      throw new Error('no');
    };
    const { engine, flow, worker } = engineOf([
      [
        { key: 'waits', execute: waits },
        { key: 'fails', execute: fails, retry: { maxAttempts: 1 } },
      ],
    ]);
    const runId = await engine.start(flow);
    worker.start();
    await entered;
    await worker.idle();
    expect(await engine.statuses(runId)).toEqual({ run: 'FAILED', waits: 'CANCELLED', fails: 'FAILED' });
    expect(reasons).toEqual(['cancelled']);
    // Its other branches may run in other processes.
    expect(engine.notifier.published).toContainEqual({ cancelled: [runId] });
  });

  it('a late notice of a cancel does not end the body of a run that was retried since', async () => {
    const goOn = signal();
    const entered = signal();
    let aborted = false;
    let fails = true;
    const execute = async (ctx: StageContext): Promise<string> => {
      if (fails) throw new Error('no');
      ctx.abortSignal.addEventListener('abort', () => (aborted = true));
      entered.fire();
      await goOn;
      return 'done';
    };
    const { engine, flow, worker } = engineOf([{ key: 'a', execute, retry: { maxAttempts: 1 } }]);
    const runId = await engine.start(flow);
    await engine.drain();
    fails = false;
    await worker.cancelled([runId]);
    await engine.retry(runId);
    worker.start();
    await entered;
    engine.notifier.publish({ cancelled: [runId] });
    await turns();
    goOn.fire();
    await worker.idle();
    expect([aborted, await engine.output(runId)]).toEqual([false, 'done']);
  });

  it('CANCEL-2: a notice that overtook the answer of the claim keeps the body from beginning', async () => {
    const store = new BrokenStore();
    let ran = 0;
    const { engine, flow, worker } = engineOf([{ key: 'a', execute: () => ++ran }], { wrap: store.wrap });
    const runId = await engine.start(flow);
    store.instead.claim = async (real, request) => {
      const result = await real(request);
      await engine.cancel(runId);
      await worker.cancelled([runId]);
      return result;
    };
    await worker.runOnce();
    expect(ran).toBe(0);
  });
});

describe('for hosts that call', () => {
  it('HOST-1: processAvailable runs what is due and what follows, up to its limits', async () => {
    const { engine, flow } = engineOf(['a', 'b', 'c'].map((key) => ({ key, execute: () => key })));
    const runIds = [await engine.start(flow), await engine.start(flow)];
    expect(await engine.runtime.pump.processAvailable({ max: 4 })).toEqual({ processed: 4, more: true });
    expect(await engine.runtime.pump.processAvailable({ max: 100 })).toEqual({ processed: 2, more: false });
    for (const runId of runIds) expect((await engine.statuses(runId)).run).toBe('COMPLETED');
  });

  it('JOB-5, GHOST-4: handleJob runs a stage run once and answers duplicates', async () => {
    const { engine, flow } = engineOf([
      { key: 'a', execute: () => 1 },
      { key: 'b', execute: () => 2 },
    ]);
    const runId = await engine.start(flow);
    const [{ id: stageRunId }] = (await engine.history(runId)).stageRuns as unknown as [{ id: string }];
    const { pump } = engine.runtime;
    expect(await pump.handleJob({ stageRunId })).toEqual({ ghost: false, status: 'COMPLETED' });
    expect(await pump.handleJob({ stageRunId })).toEqual({ ghost: true, ghostReason: 'duplicate', retryAfterMs: null });
    expect((await engine.statuses(runId)).b).toBe('PENDING');
  });

  it('GHOST-2: a stage run that is not visible yet is a race, redelivered after 1, 2, 4 … s for 5 minutes at most', async () => {
    const { engine } = engineOf([{ key: 'a', execute: () => 1 }]);
    const stageRunId = '01900000-0000-7000-8000-000000000000';
    const delays: unknown[] = [];
    for (let delivery = 1; delivery <= 9; delivery++) {
      const answer = await engine.runtime.pump.handleJob({ stageRunId, delivery });
      delays.push('retryAfterMs' in answer ? answer.retryAfterMs : undefined);
    }
    expect(delays).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, null]);
  });

  it('GHOST-1: handleJob answers orphan for a run that has ended', async () => {
    const { engine, flow } = engineOf([{ key: 'a', execute: () => 1 }]);
    const runId = await engine.start(flow);
    const [{ id: stageRunId }] = (await engine.history(runId)).stageRuns as unknown as [{ id: string }];
    await engine.cancel(runId);
    expect(await engine.runtime.pump.handleJob({ stageRunId })).toMatchObject({ ghostReason: 'orphan' });
  });
});
