import type { StageContext } from '../../../../lib/interfaces/index.js';
import { workflow, type TestStage, type TestWorkflow } from './pipeline.js';
import { signal } from './signals.js';
import { TestEngine, type TestEngineGiven } from './test-engine.js';

type Body = (ctx: StageContext) => unknown;

/** What durable calls do to runs, on whichever store `given` names. */
export function describeSteps(given: () => Promise<TestEngineGiven>): void {
  const engines: TestEngine[] = [];
  afterEach(async () => {
    await Promise.all(engines.splice(0).map((engine) => engine.close()));
  });

  async function engineWith(...flows: TestWorkflow[]): Promise<TestEngine> {
    const engine = new TestEngine(flows, await given());
    engines.push(engine);
    return engine;
  }

  async function engineOf(body: Body) {
    const stage: TestStage = { key: 'a', execute: body, retry: { maxAttempts: 3, backoff: '1h', jitter: 0 } };
    const flow = workflow('flow', [stage]);
    return { engine: await engineWith(flow), flow };
  }

  it('STEP-3, WAIT-1: a stage sleeps a month: no job, no attempt more, and it goes on where it was', async () => {
    const did: string[] = [];
    const { engine, flow } = await engineOf(async ({ step }) => {
      await step.run('before', () => void did.push('before'));
      await step.sleep('month', '30 days');
      await step.run('after', () => void did.push('after'));
      return did.join();
    });
    const runId = await engine.start(flow);
    await engine.drain();
    expect(await engine.statuses(runId)).toEqual({ run: 'RUNNING', a: 'SUSPENDED' });
    expect(await engine.jobCount(runId)).toBe(0);
    await engine.travel(29 * 86_400_000);
    expect(await engine.statuses(runId)).toMatchObject({ a: 'SUSPENDED' });
    await engine.travel(86_400_001);
    expect(await engine.statuses(runId)).toEqual({ run: 'COMPLETED', a: 'COMPLETED' });
    expect(await engine.output(runId)).toBe('before,after');
    expect((await engine.history(runId)).stageRuns[0]).toMatchObject({ attempt: 1 });
  });

  it('RETRY-2, STEP-7: a retry keeps the ledger: completed steps answer from it, failed ones run again', async () => {
    const did: string[] = [];
    let broken = true;
    const { engine, flow } = await engineOf(async ({ step }) => {
      for (const n of [1, 2, 3, 4, 5]) {
        await step.run(`s${n}`, () => {
          did.push(`s${n}`);
          if (n === 4 && broken) throw new Error('s4 is broken');
        });
      }
      return 'done';
    });
    const runId = await engine.start(flow);
    await engine.drain();
    expect(await engine.statuses(runId)).toEqual({ run: 'RUNNING', a: 'PENDING' });
    broken = false;
    await engine.travel(3_600_000);
    expect(did).toEqual(['s1', 's2', 's3', 's4', 's4', 's5']);
    expect(await engine.output(runId)).toBe('done');
  });

  it('RETRY-5: a manual retry after the last attempt runs what failed again, and waits keep their instants', async () => {
    const did: string[] = [];
    let broken = true;
    const { engine, flow } = await engineOf(async ({ step }) => {
      await step.sleep('nap', '1h');
      await step.run('pay', () => {
        did.push('pay');
        if (broken) throw new Error('broken');
      });
    });
    const runId = await engine.start(flow);
    await engine.drain();
    for (let hours = 0; hours < 10; hours++) await engine.travel(3_600_000);
    expect(await engine.statuses(runId)).toEqual({ run: 'FAILED', a: 'FAILED' });
    const tries = did.length;
    broken = false;
    await engine.retry(runId);
    await engine.drain();
    expect(await engine.statuses(runId)).toEqual({ run: 'COMPLETED', a: 'COMPLETED' });
    expect(did).toHaveLength(tries + 1);
  });

  it('WAIT-3: a signal ends the wait for it, before or after it waits', async () => {
    const { engine, flow } = await engineOf(async ({ step }) => [
      await step.waitForSignal('early'),
      await step.waitForSignal('late'),
    ]);
    const runId = await engine.start(flow);
    await engine.signal(runId, 'early', 1);
    await engine.drain();
    expect(await engine.statuses(runId)).toMatchObject({ a: 'SUSPENDED' });
    expect(await engine.signal(runId, 'late', 2)).toBe('delivered');
    await engine.drain();
    expect(await engine.output(runId)).toEqual([1, 2]);
  });

  it('WAIT-3, K7: events end the waits of their key, with the condition on the payload; early ones are kept', async () => {
    const { engine, flow } = await engineOf(async ({ step }) => [
      await step.waitForEvent('early', { key: 'order:1' }),
      await step.waitForEvent('large', { key: 'paid', where: 'event.amount > 100' }),
    ]);
    await engine.emit('order:1', { n: 1 });
    const runId = await engine.start(flow);
    await engine.drain();
    await engine.settled();
    await engine.drain();
    await engine.emit('paid', { amount: 5 });
    await engine.drain();
    expect(await engine.statuses(runId)).toMatchObject({ a: 'SUSPENDED' });
    await engine.emit('paid', { amount: 500 });
    await engine.drain();
    expect(await engine.output(runId)).toEqual([{ n: 1 }, { amount: 500 }]);
  });

  it('STEP-4: an event that does not come times out; one recorded in time wins', async () => {
    const { engine, flow } = await engineOf(({ step }) =>
      step.waitForEvent('paid', { key: 'invoice', timeout: '1h', onTimeout: 'return' }),
    );
    const [late, paid] = [await engine.start(flow), await engine.start(flow, null, { ownerId: 'team' })];
    await engine.drain();
    await engine.emit('invoice', 1, 'team');
    await engine.travel(3_600_001);
    expect(await engine.output(late)).toEqual({ timedOut: true });
    expect(await engine.output(paid)).toEqual({ timedOut: false, value: 1 });
  });

  it("STEP-9: a child is waited for, its output is the step's; many children are O(n) resumptions", async () => {
    const child = workflow('child', [{ key: 'c', execute: ({ input }) => (input as number) * 2 }]);
    let passes = 0;
    const parent = workflow('parent', [
      {
        key: 'p',
        execute: async ({ step }: StageContext) => {
          passes++;
          const results = await step.all('children', [1, 2, 3, 4, 5], (n, scope) =>
            scope.runWorkflow('double', 'child', n),
          );
          return results;
        },
      },
    ]);
    const engine = await engineWith(child, parent);
    const runId = await engine.start(parent);
    await engine.drain();
    await engine.travel(1);
    expect(await engine.output(runId)).toEqual([2, 4, 6, 8, 10]);
    expect(passes).toBeLessThanOrEqual(6);
  });

  it('STEP-9, CANCEL-3: a cancelled parent takes its waited-for children along; a failed child fails the step', async () => {
    const child = workflow('child', [{ key: 'c', execute: ({ step }: StageContext) => step.sleep('x', '1 day') }]);
    const broken = workflow('broken', [
      {
        key: 'c',
        execute: () => {
          throw new Error('no');
        },
        retry: { maxAttempts: 1 },
      },
    ]);
    const parent = workflow('parent', [
      { key: 'p', execute: ({ step }: StageContext) => step.runWorkflow('child', 'child', null) },
    ]);
    const unlucky = workflow('unlucky', [
      {
        key: 'p',
        execute: async ({ step }: StageContext) => {
          try {
            return await step.runWorkflow('child', 'broken', null);
          } catch (error) {
            return (error as { params: { failureCode: string } }).params.failureCode;
          }
        },
      },
    ]);
    const engine = await engineWith(child, broken, parent, unlucky);
    const runId = await engine.start(parent);
    const other = await engine.start(unlucky);
    await engine.drain();
    await engine.travel(1);
    expect(await engine.output(other)).toBe('EXCEPTION');
    await engine.cancel(runId);
    await engine.travel(1);
    const counts = await engine.store.countRuns({ all: true });
    expect(counts).toMatchObject({ CANCELLED: 2 });
  });

  it('STEP-9, STEP-7: when the stage is retried, another child takes the place of one that failed', async () => {
    let broken = true;
    const child = workflow('child', [
      {
        key: 'c',
        execute: () => {
          if (broken) throw new Error('no');
          return 'fine';
        },
        retry: { maxAttempts: 1 },
      },
    ]);
    const parent = workflow('parent', [
      {
        key: 'p',
        execute: ({ step }: StageContext) => step.runWorkflow('child', 'child', null),
        retry: { maxAttempts: 1 },
      },
    ]);
    const engine = await engineWith(child, parent);
    const runId = await engine.start(parent);
    await engine.drain();
    await engine.travel(1);
    expect((await engine.history(runId)).run).toMatchObject({ status: 'FAILED', failureCode: 'CHILD_RUN_FAILED' });
    broken = false;
    await engine.retry(runId);
    await engine.drain();
    await engine.travel(1);
    expect(await engine.output(runId)).toBe('fine');
  });

  it('WAIT-6, WAIT-4: an asynchronous stage is polled until it is ready, its state kept', async () => {
    const seen: unknown[] = [];
    const { engine, flow } = await engineOf((ctx) => ctx.suspend({ every: '10 min', state: { job: 7, polls: 0 } }));
    flow.stages.get('flow.a')!.checkCompletion = (state: { job: number; polls: number }) => {
      seen.push(state);
      return state.polls < 2
        ? { status: 'pending', state: { ...state, polls: state.polls + 1 } }
        : { status: 'ready', output: state.polls };
    };
    const runId = await engine.start(flow);
    await engine.drain();
    for (let n = 0; n < 3; n++) await engine.travel(600_001);
    expect(seen).toEqual([
      { job: 7, polls: 0 },
      { job: 7, polls: 1 },
      { job: 7, polls: 2 },
    ]);
    expect(await engine.output(runId)).toBe(2);
  });

  it('WAIT-5: past maxWait it fails WAIT_TIMEOUT', async () => {
    const { engine, flow } = await engineOf((ctx) => ctx.suspend({ every: '10 min', maxWait: '25 min' }));
    let asked = 0;
    flow.stages.get('flow.a')!.checkCompletion = () => (asked++, { status: 'pending' });
    const runId = await engine.start(flow);
    await engine.drain();
    for (let n = 0; n < 4; n++) await engine.travel(600_001);
    expect((await engine.history(runId)).run).toMatchObject({ status: 'FAILED', failureCode: 'WAIT_TIMEOUT' });
    expect(asked).toBe(3);
  });

  it('RETRY-4: a check that throws is retried as a check; execute is not begun anew', async () => {
    let executed = 0;
    let asked = 0;
    const { engine, flow } = await engineOf((ctx) => (executed++, ctx.suspend({ every: '10 min', state: 1 })));
    flow.stages.get('flow.a')!.checkCompletion = () => {
      if (++asked === 1) throw new Error('away');
      return { status: 'ready', output: 'ok' };
    };
    const runId = await engine.start(flow);
    await engine.drain();
    for (let n = 0; n < 3; n++) await engine.travel(3_600_001);
    expect(await engine.output(runId)).toBe('ok');
    expect([executed, asked]).toEqual([1, 2]);
  });

  it('a stage that suspends itself without checkCompletion fails NO_COMPLETION_CHECK', async () => {
    const { engine, flow } = await engineOf((ctx) => ctx.suspend({ every: '10 min' }));
    const runId = await engine.start(flow);
    await engine.drain();
    expect((await engine.history(runId)).run).toMatchObject({ failureCode: 'NO_COMPLETION_CHECK' });
  });

  it('ANN-1, OBS-3: notes are written with the outcome, of every attempt', async () => {
    const { engine, flow } = await engineOf(async (ctx) => {
      const { attempt } = ctx;
      ctx.annotate('tries', { attempt });
      ctx.log(`attempt ${attempt}`);
      ctx.progress(attempt, 2, 'half');
      if (attempt === 1) throw new Error('again');
      await ctx.step.sleep('nap', '1h');
      ctx.log(`attempt ${ctx.attempt}, awake`);
    });
    const runId = await engine.start(flow);
    await engine.drain();
    await engine.travel(3_600_000);
    await engine.travel(3_600_001);
    const { annotations, lines, stageRuns } = await engine.history(runId);
    expect(annotations.map(({ value }) => value)).toEqual(['{"attempt":1}', '{"attempt":2}']);
    expect(lines.map(({ message }) => message)).toEqual(['attempt 1', 'attempt 2', 'attempt 2, awake']);
    expect(stageRuns[0]!.progress).toMatchObject({ done: 2, total: 2 });
  });

  it('OBS-3: lines stand once, in their order: replayed ones are not written again, those in steps and checks are', async () => {
    const { engine, flow } = await engineOf(async (ctx) => {
      ctx.log('before');
      await ctx.step.run('one', () => ctx.log('in a step'));
      for (const n of [1, 2]) {
        ctx.log('again');
        await ctx.step.waitFor(`poll ${n}`, ({ attempt }) => (ctx.log('asking'), attempt >= 2), { every: '1h' });
      }
      ctx.log('after');
    });
    const runId = await engine.start(flow);
    await engine.drain();
    for (let hours = 0; hours < 3; hours++) await engine.travel(3_600_001);
    expect(await engine.statuses(runId)).toMatchObject({ run: 'COMPLETED' });
    const { lines } = await engine.history(runId);
    expect(lines.map(({ message }) => message)).toEqual([
      ...['before', 'in a step', 'again', 'asking', 'asking'],
      ...['again', 'asking', 'asking', 'after'],
    ]);
  });

  it('CANCEL-1, WAIT-2: a cancelled run has no open wait; what was to wake it wakes nobody', async () => {
    const did: string[] = [];
    const { engine, flow } = await engineOf(async ({ step }) => {
      await step.sleep('nap', '1h');
      did.push('woke');
    });
    const runId = await engine.start(flow);
    await engine.drain();
    await engine.cancel(runId);
    await engine.travel(3_600_001);
    expect(await engine.statuses(runId)).toEqual({ run: 'CANCELLED', a: 'CANCELLED' });
    expect(did).toEqual([]);
  });

  it('L2, CANCEL-2: after a cancel during a step, the next one does not run', async () => {
    const did: string[] = [];
    const [entered, goOn] = [signal(), signal()];
    const { engine, flow } = await engineOf(async ({ step }) => {
      await step.run('one', async () => {
        entered.fire();
        await goOn;
        did.push('one');
      });
      await step.run('two', () => void did.push('two'));
    });
    const runId = await engine.start(flow);
    const draining = engine.drain();
    await entered;
    await engine.cancel(runId);
    goOn.fire();
    await draining;
    expect(did).toEqual(['one']);
    expect(await engine.statuses(runId)).toEqual({ run: 'CANCELLED', a: 'CANCELLED' });
  });

  it('WAKE-2: the report counts timers, timeouts and polls', async () => {
    const { engine, flow } = await engineOf(({ step }) =>
      Promise.all([
        step.sleep('nap', '1h'),
        step.waitForSignal('s', { timeout: '1h', onTimeout: 'return' }),
        step.waitForEvent('e', { key: 'e', timeout: '1h', onTimeout: 'return' }),
        step.waitFor('p', () => false, { every: '1h' }),
      ]),
    );
    await engine.start(flow);
    await engine.drain();
    engine.passTime(3_600_001);
    expect(await engine.runtime.pass.wake()).toMatchObject({ timers: 1, timeouts: 2, polls: 1, errors: [] });
  });
}
