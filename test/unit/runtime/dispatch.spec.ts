import type { JobConsumer, JobMessage, JobTransport } from '../../../lib/engine/ports/index.js';
import { Outages } from '../../../lib/runtime/background/outages.js';
import { JobDispatcher } from '../../../lib/runtime/dispatch/job-dispatcher.js';
import { jobMessage } from '../../../lib/runtime/dispatch/job-message.js';
import { MessageHandler } from '../../../lib/runtime/dispatch/message-handler.js';
import { BrokenStore, TransientError } from './support/broken-store.js';
import { CollectedLog } from './support/collected-log.js';
import { LocalNotifier } from './support/local-notifier.js';
import { workflow } from './support/pipeline.js';
import { signal, turns } from './support/signals.js';
import { TestEngine, type TestEngineGiven } from './support/test-engine.js';

const engines: TestEngine[] = [];
afterEach(async () => {
  await Promise.all(engines.splice(0).map(close));
});

async function close(engine: TestEngine): Promise<void> {
  await engine.runtime.link?.stop(0);
  await engine.close();
}

/** Keeps what it is given, and delivers when a test says so. */
class HeldTransport implements JobTransport {
  readonly name = 'held';
  readonly sent: JobMessage[] = [];
  readonly cancelled: string[] = [];
  readonly stops: number[] = [];
  consumer: JobConsumer | undefined;
  /** Runs in place of keeping; throws to refuse. */
  onSend: (messages: readonly JobMessage[]) => unknown = () => undefined;
  onStart: () => void = () => undefined;
  #waiting: { readonly count: number; readonly resolve: () => void }[] = [];

  async start(consumer: JobConsumer): Promise<void> {
    this.onStart();
    this.consumer = consumer;
  }

  async send(messages: readonly JobMessage[]): Promise<void> {
    await this.onSend(messages);
    this.sent.push(...messages);
    for (const { count, resolve } of this.#waiting) if (this.sent.length >= count) resolve();
  }

  async cancelByRun(runId: string): Promise<void> {
    this.cancelled.push(runId);
    throw new Error('The broker is away.');
  }

  async stop(graceMs: number): Promise<void> {
    this.stops.push(graceMs);
  }

  hasSent(count: number): Promise<void> {
    if (this.sent.length >= count) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ count, resolve }));
  }
}

function engineOf(nodes: Parameters<typeof workflow>[1], given: TestEngineGiven = {}) {
  const store = new BrokenStore();
  const transport = new HeldTransport();
  const flow = workflow('flow', nodes);
  const options = {
    transport,
    worker: { pollInterval: '1 h', concurrency: 7, queues: ['default', 'b'] },
    ...given.options,
  };
  const engine = new TestEngine([flow], { wrap: store.wrap, ...given, options });
  engines.push(engine);
  return { engine, flow, store, transport, link: engine.runtime.link!, pass: engine.runtime.pass };
}

const one = { key: 'a', execute: () => 1 };

describe('the link to a transport', () => {
  it('JOB-3: there is none without a transport', () => {
    const engine = new TestEngine([workflow('flow', [one])]);
    engines.push(engine);
    expect(engine.runtime.link).toBeNull();
  });

  it('JOB-5: sends what is due when it starts, when something appears, and what follows an outcome', async () => {
    const { engine, flow, transport, link } = engineOf([one, { key: 'b', execute: () => 2 }]);
    await engine.start(flow);
    await link.start(true);
    await transport.hasSent(1);
    await engine.start(flow);
    link.workAppeared();
    await transport.hasSent(2);
    const [first] = transport.sent;
    expect(first!.id).toBe(`${first!.stageRunId}:1`);
    expect(await transport.consumer!.handle(first!)).toEqual({ ghost: false, status: 'COMPLETED' });
    await transport.hasSent(3);
    expect(transport.sent[2]).toMatchObject({ runId: first!.runId, attempt: 1 });
    expect(transport.sent[2]!.stageRunId).not.toBe(first!.stageRunId);
  });

  it('JOB-5: a retry is a message of its own, and the old one comes to nothing', async () => {
    const execute = (ctx: { attempt: number }) => {
      if (ctx.attempt === 1) throw new Error('no');
      return ctx.attempt;
    };
    const { engine, flow, transport, link } = engineOf([{ key: 'a', execute }]);
    const runId = await engine.start(flow);
    await link.start(true);
    await transport.hasSent(1);
    const [first] = transport.sent;
    expect(await transport.consumer!.handle(first!)).toEqual({ ghost: false, status: 'PENDING' });
    await transport.hasSent(2);
    expect(transport.sent[1]!.id).toBe(`${first!.stageRunId}:2`);
    const ghost = { ghost: true, ghostReason: 'duplicate', retryAfterMs: null };
    expect(await transport.consumer!.handle(first!)).toEqual(ghost);
    await transport.consumer!.handle(transport.sent[1]!);
    expect(await engine.output(runId)).toBe(2);
  });

  it('RUN-6: the transport is told what the worker would do', async () => {
    const { transport, link } = engineOf([one]);
    await link.start(true);
    expect(transport.consumer).toMatchObject({ concurrency: 7, queues: ['default', 'b'] });
  });

  it('JOB-5: a process that executes nothing sends, and takes nothing', async () => {
    const { engine, flow, transport, link } = engineOf([one]);
    await engine.start(flow);
    await link.start(false);
    await transport.hasSent(1);
    expect(transport.consumer).toBeUndefined();
  });

  it('FAULT G7: a start that failed is made up for', async () => {
    const { engine, flow, transport, link } = engineOf([one]);
    await engine.start(flow);
    transport.onStart = () => {
      throw new Error('The broker is away.');
    };
    await expect(link.start(true)).rejects.toThrow('The broker is away.');
    expect(transport.sent).toHaveLength(0);
    transport.onStart = () => undefined;
    await link.start(true);
    await transport.hasSent(1);
  });

  it('JOB-5: hints of other processes are acted upon: work is sent, ended runs take their messages back, once', async () => {
    const { engine, flow, transport, link } = engineOf([one]);
    await engine.start(flow);
    await link.start(true);
    await transport.hasSent(1);
    await turns();
    await engine.start(flow);
    engine.notifier.publish({ work: true });
    await transport.hasSent(2);
    engine.notifier.publish({ cancelled: ['run-1', 'run-2'] });
    link.cancelled(['run-2', 'run-3']);
    await turns();
    expect(transport.cancelled).toEqual(['run-1', 'run-2', 'run-3']);
  });

  it('JOB-3: a run that fails takes the messages of its other branches back', async () => {
    const execute = (): never => {
      throw new Error('no');
    };
    const branches = [
      { key: 'a', retry: { maxAttempts: 1 }, execute },
      { ...one, key: 'b' },
    ];
    // As in production: a process does not hear its own hints.
    const notifier = Object.assign(new LocalNotifier(), { subscribe: () => () => undefined });
    const { engine, flow, transport, link } = engineOf([branches], { notifier });
    const runId = await engine.start(flow);
    await link.start(true);
    await transport.hasSent(2);
    const failing = transport.sent[0]!;
    await transport.consumer!.handle(failing);
    expect(transport.cancelled).toEqual([runId]);
    expect(await transport.consumer!.handle(transport.sent[1]!)).toMatchObject({ ghostReason: 'orphan' });
  });

  it('CANCEL-3: a cancel hook is called by a message of its own', async () => {
    const begun = signal();
    const goOn = signal();
    const hooks: string[] = [];
    const stage = {
      key: 'a',
      execute: () => (begun.fire(), goOn),
      cancel: () => {
        hooks.push('called');
      },
    };
    const { engine, flow, transport, link } = engineOf([stage]);
    const runId = await engine.start(flow);
    await link.start(true);
    await transport.hasSent(1);
    const handling = transport.consumer!.handle(transport.sent[0]!);
    await begun;
    await engine.cancel(runId);
    link.kick();
    await transport.hasSent(2);
    const hook = transport.sent[1]!;
    expect(hook).toMatchObject({ id: `${hook.stageRunId}:cancel:1`, kind: 'cancel', attempt: 1 });
    expect(await transport.consumer!.handle(hook)).toEqual({ ghost: false, status: 'CANCELLED' });
    expect(await transport.consumer!.handle(hook)).toMatchObject({ ghostReason: 'duplicate' });
    expect(hooks).toEqual(['called']);
    goOn.fire();
    expect(await handling).toMatchObject({ ghost: true, ghostReason: 'orphan' });
  });

  it('WAKE-2, JOB-5: lost messages are pushed again by a wake pass, and reported', async () => {
    const { engine, flow, transport, link, pass } = engineOf([one]);
    await engine.start(flow);
    await link.start(true);
    await transport.hasSent(1);
    engine.clock.advance(59_999);
    expect(await pass.wake()).toMatchObject({ requeued: 0 });
    engine.clock.advance(1);
    expect(await pass.wake()).toMatchObject({ requeued: 1, errors: [] });
    await transport.hasSent(2);
    expect(transport.sent[1]).toEqual(transport.sent[0]);
  });

  it('JOB-5: without the transport the worker takes over what is with it, as lost', async () => {
    const { engine, flow, transport, link, pass } = engineOf([one]);
    const runId = await engine.start(flow);
    await link.start(true);
    await transport.hasSent(1);
    await link.stop(0);
    expect(await engine.drain()).toBe(0);
    engine.clock.advance(60_000);
    await pass.wake();
    expect(await engine.drain()).toBe(1);
    expect((await engine.statuses(runId)).run).toBe('COMPLETED');
  });

  it('LEASE-6: stopped, it refuses messages, gives the transport its grace, and leaves new work to others', async () => {
    const { engine, flow, transport, link } = engineOf([one]);
    await engine.start(flow);
    await link.start(true);
    await transport.hasSent(1);
    await Promise.all([link.stop(1_000), link.stop(1_000)]);
    expect(transport.stops).toHaveLength(1);
    expect(transport.stops[0]).toBeGreaterThanOrEqual(1_000);
    await expect(transport.consumer!.handle(transport.sent[0]!)).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
    engine.notifier.published.splice(0);
    link.workAppeared();
    link.cancelled(['run-1']);
    expect(engine.notifier.published).toEqual([{ work: true }]);
    expect(transport.cancelled).toEqual([]);
  });
});

const unsent = (attempt = 1) =>
  ({ kind: 'execute', stageRunId: 's', runId: 'r', queue: 'q', priority: 0, attempt, resumes: 0 }) as const;

describe('a dispatcher', () => {
  function dispatcherOf(pages: (readonly ReturnType<typeof unsent>[])[], requeueAfterMs = 60_000) {
    const transport = new HeldTransport();
    const log = new CollectedLog();
    const time = { now: 0 };
    const store = { takeUnsent: async () => [...(pages.shift() ?? [])], isTransient: () => false };
    const outages = new Outages(log);
    // Nearly no pauses.
    const random = () => -0.999;
    const now = () => time.now;
    const dispatcher = new JobDispatcher({
      store,
      transport,
      pollMs: 3_600_000,
      requeueAfterMs,
      outages,
      log,
      random,
      now,
    });
    return { dispatcher, transport, log, time, pages };
  }

  it('JOB-5: sends page by page until less than a page is due', async () => {
    const page = Array.from({ length: 100 }, () => unsent());
    const { dispatcher, transport, pages } = dispatcherOf([page, [unsent(2)], [unsent(3)]]);
    await dispatcher.runOnce();
    expect(transport.sent).toHaveLength(101);
    expect(pages).toHaveLength(1);
  });

  it('JOB-5: a batch that is refused is sent again; an outage of the broker is told once, and its end', async () => {
    const { dispatcher, transport, log } = dispatcherOf([[unsent()]]);
    let refusals = 3;
    transport.onSend = () => {
      if (refusals-- > 0) throw new Error('The broker is away.');
    };
    await dispatcher.runOnce();
    expect(transport.sent).toEqual([jobMessage(unsent())]);
    expect(log.matching('warn', '')).toEqual([expect.stringContaining('takes no jobs: Error: The broker is away.')]);
    expect(log.matching('log', '')).toEqual([expect.stringContaining('takes jobs again')]);
  });

  it('JOB-5: a batch that is refused for as long as messages may take is given up, and the next one tried', async () => {
    const page = Array.from({ length: 100 }, () => unsent(1));
    const { dispatcher, transport, log, time } = dispatcherOf([page, [unsent(2)]]);
    transport.onSend = ([first]) => {
      time.now += 30_000;
      if (first!.attempt === 1) throw new Error('It has too many letters.');
    };
    await dispatcher.runOnce();
    expect(transport.sent.map(({ attempt }) => attempt)).toEqual([2]);
    expect(log.matching('warn', '').at(-1)).toContain('100 jobs could not be given to held');
  });

  it('JOB-5: a broker that never answers does not end all sending', async () => {
    const page = Array.from({ length: 100 }, () => unsent(1));
    const { dispatcher, transport, time } = dispatcherOf([page, [unsent(2)]], 5);
    transport.onSend = ([first]) => {
      if (first!.attempt !== 1) return undefined;
      time.now += 5;
      return new Promise(() => undefined);
    };
    await dispatcher.runOnce();
    expect(transport.sent.map(({ attempt }) => attempt)).toEqual([2]);
  });

  it('LEASE-6: stopped while the broker is away it gives up at once', async () => {
    const { dispatcher, transport, log } = dispatcherOf([[unsent()]]);
    const refused = signal();
    transport.onSend = () => {
      refused.fire();
      throw new Error('The broker is away.');
    };
    dispatcher.start();
    await refused;
    await dispatcher.stop();
    expect(transport.sent).toHaveLength(0);
    expect(log.matching('warn', '').at(-1)).toContain('a wake pass pushes them again');
    expect(dispatcher.running).toBe(false);
  });
});

describe('a handler of messages', () => {
  const message = jobMessage(unsent());

  function handlerOf(handleJob: (delivery: number) => Promise<unknown>) {
    const log = new CollectedLog();
    const deliveries: number[] = [];
    const handler = new MessageHandler({
      store: { isTransient: (error) => error instanceof TransientError },
      pump: {
        handleJob: async ({ delivery }) => {
          deliveries.push(delivery!);
          return handleJob(delivery!) as never;
        },
      },
      outages: new Outages(log, () => -0.999),
      log,
    });
    return { handler, log, deliveries };
  }

  const race = (retryAfterMs: number | null) => ({ ghost: true, ghostReason: 'race', retryAfterMs });

  it('JOB-5: a database that is away is waited for', async () => {
    let away = 2;
    const { handler, deliveries } = handlerOf(async () => {
      if (away-- > 0) throw new TransientError();
      return { ghost: false, status: 'COMPLETED' };
    });
    expect(await handler.handle(message)).toEqual({ ghost: false, status: 'COMPLETED' });
    expect(deliveries).toEqual([1, 1, 1]);
  });

  it('LEASE-6: but not beyond the end of the process', async () => {
    const { handler } = handlerOf(async () => {
      handler.stop();
      throw new TransientError();
    });
    await expect(handler.handle(message)).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
  });

  it('JOB-5: a message that can be none is refused, and told', async () => {
    const { handler, log } = handlerOf(async () => {
      throw new Error('invalid input syntax for type uuid');
    });
    await expect(handler.handle(message)).rejects.toThrow('invalid input syntax');
    expect(log.matching('error', '')).toEqual([expect.stringContaining('Message s:1 could not be handled')]);
  });

  it('GHOST-2: a race is answered at once, and looked at again by itself until it is none', async () => {
    const through = signal();
    const { handler, deliveries } = handlerOf(async (delivery) => {
      if (delivery < 3) return race(1);
      through.fire();
      return { ghost: false, status: 'COMPLETED' };
    });
    expect(await handler.handle(message)).toEqual(race(1));
    await through;
    await turns();
    expect(deliveries).toEqual([1, 2, 3]);
  });

  it('GHOST-2: a race that lasts for minutes is dropped, and told', async () => {
    const { handler, log, deliveries } = handlerOf(async (delivery) => race(delivery < 3 ? 1 : null));
    const told = signal<string>();
    jest.spyOn(log, 'warn').mockImplementation((line) => told.fire(line));
    await handler.handle(message);
    expect(await told).toContain('names a stage run that is not there');
    expect(deliveries).toEqual([1, 2, 3]);
  });

  it('LEASE-6: a race is not looked at again by a process that ends', async () => {
    const { handler, deliveries } = handlerOf(async () => race(3_600_000));
    await handler.handle(message);
    handler.stop();
    await turns();
    expect(deliveries).toEqual([1]);
  });
});
