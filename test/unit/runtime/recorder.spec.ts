import type { LinearRecord, RecordVerdict } from '../../../lib/engine/ports/index.js';
import { BrokenStore, DataError, TransientError } from './support/broken-store.js';
import { workflow } from './support/pipeline.js';
import { signal, turns, type Signal } from './support/signals.js';
import { TestEngine, type TestEngineGiven } from './support/test-engine.js';

const engines: TestEngine[] = [];
afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
});

function engineOf(nodes: Parameters<typeof workflow>[1], given: TestEngineGiven = {}) {
  const store = new BrokenStore();
  const flow = workflow('flow', nodes);
  const engine = new TestEngine([flow], {
    wrap: store.wrap,
    options: { worker: { concurrency: 200, pollInterval: '1 h' } },
    ...given,
  });
  engines.push(engine);
  return { engine, flow, store, worker: engine.runtime.worker };
}

const one = { key: 'a', execute: () => 1 };
const sizes = (store: BrokenStore, method: 'record' | 'settle'): number[] =>
  store.argsOf(method).map(([records]) => records.length);

describe('groups', () => {
  it('RUN-8: writes whatever is ready at one moment in one statement, at most a hundred', async () => {
    const { engine, flow, store, worker } = engineOf([one]);
    for (let run = 0; run < 150; run++) await engine.start(flow);
    await worker.runOnce();
    expect(sizes(store, 'record')).toEqual([100, 50]);
  });

  it('has three statements of the linear lane under way at most, and what becomes ready meanwhile is one group', async () => {
    const open: (() => void)[] = [];
    const { engine, flow, store, worker } = engineOf([{ key: 'a', execute: (ctx) => ends.get(ctx.run.id) }]);
    const ends = new Map<string, Signal>();
    store.instead.record = async (real, ...args) => {
      await new Promise<void>((resolve) => open.push(resolve));
      return real(...args);
    };
    for (let run = 0; run < 5; run++) ends.set(await engine.start(flow), signal());
    worker.start();
    await turns();
    for (const end of ends.values()) {
      end.fire();
      await turns();
    }
    expect(sizes(store, 'record')).toEqual([1, 1, 1]);
    for (const resolve of open.splice(0)) resolve();
    await turns();
    expect(sizes(store, 'record')).toEqual([1, 1, 1, 2]);
    for (const resolve of open) resolve();
    await worker.idle();
  });

  it('GRP-2: settles both branches of a group in one call when they end together, and the next node is entered once', async () => {
    let entered = 0;
    const { engine, flow, store } = engineOf([
      [
        { key: 'a', execute: () => 1 },
        { key: 'b', execute: () => 2 },
      ],
      { key: 'c', execute: () => ++entered },
    ]);
    const runId = await engine.start(flow);
    await engine.drain();
    expect([sizes(store, 'settle'), entered, (await engine.statuses(runId)).run]).toEqual([[2], 1, 'COMPLETED']);
  });

  it('has one settle under way at a time, and none over a run that a linear statement is writing', async () => {
    const open: (() => void)[] = [];
    const { engine, flow, store, worker } = engineOf([
      [
        {
          key: 'a',
          execute: () => {
            throw new Error('again');
          },
        },
        { key: 'b', execute: () => late },
      ],
    ]);
    const late = signal();
    store.instead.record = async (real, ...args) => {
      await new Promise<void>((resolve) => open.push(resolve));
      return real(...args);
    };
    await engine.start(flow);
    worker.start();
    await turns();
    late.fire();
    await turns();
    expect([store.count('record'), store.count('settle')]).toEqual([1, 0]);
    delete store.instead.record;
    for (const resolve of open.splice(0)) resolve();
    await worker.idle();
    // The branch that went on, and the one that failed for good in the end.
    expect(store.count('settle')).toBe(2);
  });
});

describe('the slow lane', () => {
  it('waits for the lock of a busy run alone, while others are recorded', async () => {
    const { engine, flow, store, worker } = engineOf([one]);
    const busy = await engine.start(flow);
    const others = [await engine.start(flow), await engine.start(flow)];
    let locked = true;
    const tried: unknown[] = [];
    store.instead.record = async (real, records, options) => {
      const free = records.filter(({ lease }) => !locked || lease.runId !== busy);
      const written = new Map((await real(free, options)).map((verdict, at) => [free[at], verdict]));
      if (options?.lockTimeoutMs) tried.push(options.lockTimeoutMs);
      if (tried.length === 2) locked = false;
      return records.map((record) => written.get(record) ?? ({ verdict: 'busy' } as RecordVerdict));
    };
    const ran = worker.runOnce();
    await turns();
    for (const runId of others) expect((await engine.statuses(runId)).run).toBe('COMPLETED');
    expect((await engine.statuses(busy)).run).toBe('RUNNING');
    await ran;
    expect((await engine.statuses(busy)).run).toBe('COMPLETED');
    expect(tried.slice(0, 2)).toEqual([1_000, 1_000]);
  });

  it('keeps later outcomes of the run behind the one that waits', async () => {
    const { engine, flow, store, worker } = engineOf([
      [
        { key: 'a', execute: () => 1 },
        { key: 'b', execute: () => late },
      ],
    ]);
    const late = signal();
    const release = signal();
    const order: string[] = [];
    store.instead.settle = async (real, records, decide, options) => {
      order.push(`${options?.lockTimeoutMs ? 'slow' : 'grouped'} ${records.map(({ key }) => key).join()}`);
      if (order.length === 1) return [{ verdict: 'busy' }];
      if (order.length === 2) await release;
      return real(records, decide, options);
    };
    const runId = await engine.start(flow);
    worker.start();
    await turns();
    late.fire();
    await turns();
    release.fire();
    await worker.idle();
    expect(order).toEqual(['grouped a', 'slow a', 'slow b']);
    expect((await engine.statuses(runId)).run).toBe('COMPLETED');
  });
});

describe('a database that is away', () => {
  it('FAULT C23: writes the same outcomes with the same ids until they are written', async () => {
    const { engine, flow, store, worker } = engineOf([one, { key: 'b', execute: () => 2 }]);
    let failures = 3;
    store.instead.record = (real, ...args) =>
      failures-- > 0 ? Promise.reject(new TransientError('read-only')) : real(...args);
    const runId = await engine.start(flow);
    await worker.runOnce();
    const [first, second] = store.argsOf('record').map(([records]) => records as LinearRecord[]);
    expect(second).toEqual(first);
    expect((await engine.statuses(runId)).run).toBe('COMPLETED');
    expect(engine.log.matching('warn', 'The database does not answer')).toHaveLength(1);
  });

  it('LEASE-5: a lost answer of a commit is read again, and the stage handed off goes on', async () => {
    const { engine, flow, store, worker } = engineOf([
      one,
      { key: 'b', execute: () => 2 },
      { key: 'c', execute: () => 3 },
    ]);
    let lost = 2;
    store.instead.record = async (real, ...args) => {
      const verdicts = await real(...args);
      if (lost-- > 0) throw new TransientError('the connection broke on commit');
      return verdicts;
    };
    const runId = await engine.start(flow);
    await worker.runOnce();
    expect(store.count('claim')).toBe(1);
    expect(await engine.statuses(runId)).toEqual({ run: 'COMPLETED', a: 'COMPLETED', b: 'COMPLETED', c: 'COMPLETED' });
    expect(engine.log.matching('warn', 'lease')).toEqual([]);
  });

  it('LEASE-5: a lost answer of a settle is read again; the run has ended once', async () => {
    const { engine, flow, store, worker } = engineOf([[one, { key: 'b', execute: () => 2 }]]);
    let lost = 1;
    store.instead.settle = async (real, ...args) => {
      const verdicts = await real(...args);
      if (lost-- > 0) throw new TransientError('the connection broke on commit');
      return verdicts;
    };
    const runId = await engine.start(flow);
    await worker.runOnce();
    expect((await engine.statuses(runId)).run).toBe('COMPLETED');
    await engine.runtime.relay.flush();
    expect(engine.sink.events.filter(({ type }) => type === 'run:completed')).toHaveLength(1);
  });
});

describe('an outcome the store refuses', () => {
  it('FAULT A1: fails INVALID_OUTPUT in its place, and nobody else of the group with it', async () => {
    const { engine, flow, store, worker } = engineOf([{ key: 'a', execute: (ctx) => ctx.input }]);
    const good = [await engine.start(flow, 'good'), await engine.start(flow, 'good')];
    const bad = await engine.start(flow, 'bad');
    store.instead.record = (real, records, options) =>
      records.some(({ outcome }) => outcome.kind === 'completed' && outcome.output === '"bad"')
        ? Promise.reject(new DataError('22P05: \u0000 cannot be converted to text'))
        : real(records, options);
    await worker.runOnce();
    for (const runId of good) expect((await engine.statuses(runId)).run).toBe('COMPLETED');
    const { run } = await engine.history(bad);
    expect(run).toMatchObject({ status: 'FAILED', failureCode: 'INVALID_OUTPUT', failedNode: 'a' });
    expect(run.failureMessage).not.toContain('\u0000');
  });

  it('FAULT A1: a failure that can not be stored is replaced by one that can', async () => {
    const { engine, flow, store, worker } = engineOf([
      {
        key: 'a',
        execute: () => {
          throw new Error('bad text');
        },
        retry: { maxAttempts: 1 },
      },
    ]);
    store.instead.settle = (real, records, ...rest) =>
      records.some(({ outcome }) => outcome.kind === 'failed' && outcome.failure.message === 'bad text')
        ? Promise.reject(new DataError('22021: invalid byte sequence'))
        : real(records, ...rest);
    const runId = await engine.start(flow);
    await worker.runOnce();
    expect((await engine.history(runId)).run).toMatchObject({ status: 'FAILED', failureCode: 'RECORD_FAILED' });
  });

  it('gives up one that is refused in every form: its slot is free again, and its lease tells', async () => {
    const { engine, flow, store, worker } = engineOf([{ key: 'a', execute: () => 1 }]);
    store.instead.record = () => Promise.reject(new DataError('22P05: refused'));
    store.instead.settle = () => Promise.reject(new DataError('22P05: refused again'));
    const runId = await engine.start(flow);
    await worker.runOnce();
    expect(store.count('settle')).toBe(1);
    expect(engine.log.matching('error', 'given up')).toHaveLength(1);
    expect((await engine.statuses(runId)).a).toBe('RUNNING');
  });

  it('tries again first what is refused for no known reason, and records a failure in the end', async () => {
    const { engine, flow, store, worker } = engineOf([{ key: 'a', execute: () => 1 }]);
    store.instead.record = () => Promise.reject(new Error('42P01: no such table'));
    const runId = await engine.start(flow);
    await worker.runOnce();
    expect(store.count('record')).toBe(5);
    expect((await engine.history(runId)).run).toMatchObject({ status: 'FAILED', failureCode: 'RECORD_FAILED' });
  });

  it('refuses an answer with too few verdicts, so that no outcome waits for ever', async () => {
    const { engine, flow, store, worker } = engineOf([{ key: 'a', execute: () => 1 }]);
    let odd = true;
    store.instead.record = (real, ...args) => (odd ? ((odd = false), Promise.resolve([])) : real(...args));
    const runId = await engine.start(flow);
    await worker.runOnce();
    expect((await engine.statuses(runId)).run).toBe('COMPLETED');
  });

  it("FAULT C8: drops the result of a worker whose lease is another one's", async () => {
    const { engine, flow, worker } = engineOf(
      [{ key: 'a', execute: (ctx) => (ctx.attempt === 1 && first ? ((first = false), late) : 'second') }],
      {
        options: { worker: { pollInterval: '1 h' }, lease: { staleThreshold: '1s', heartbeatInterval: '400 ms' } },
      },
    );
    let first = true;
    const late = signal<string>();
    const runId = await engine.start(flow);
    worker.start();
    await turns();
    engine.clock.advance(2_000);
    await engine.runtime.pass.wake();
    await turns(10);
    late.fire('first');
    await worker.idle();
    expect(await engine.output(runId)).toBe('second');
    expect(engine.log.matching('warn', 'lease')).toHaveLength(1);
  });
});
