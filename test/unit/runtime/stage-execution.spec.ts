import { z } from 'zod';
import { NonRetryableError } from '../../../lib/errors/index.js';
import type { StageContext } from '../../../lib/interfaces/index.js';
import { workflow, type TestStage } from './support/pipeline.js';
import { signal, turns } from './support/signals.js';
import { TestEngine } from './support/test-engine.js';

let engine: TestEngine;
afterEach(() => engine.close());

const stage = (
  key: string,
  execute: (ctx: StageContext<any>) => unknown,
  given: Partial<TestStage> = {},
): TestStage => ({
  key,
  execute,
  ...given,
});

async function run(
  nodes: Parameters<typeof workflow>[1],
  input: unknown = null,
  given: Parameters<typeof workflow>[2] = {},
) {
  const flow = workflow('flow', nodes, given);
  engine = new TestEngine([flow]);
  const runId = await engine.start(flow, input);
  await engine.drain();
  return { runId, ...(await engine.history(runId)), output: await engine.output(runId) };
}

describe('what a stage is given', () => {
  it('RUN-3: gives the first stage the run input, each later one the output before it, a group an object by key', async () => {
    const seen: unknown[] = [];
    const note = (key: string, value: unknown): TestStage => stage(key, (ctx) => (seen.push([key, ctx.input]), value));
    const { output, run: row } = await run(
      [note('a', { n: 1 }), [note('b', 2), note('c', false)], note('d', 'end')],
      'in',
    );
    expect(seen).toEqual([
      ['a', 'in'],
      ['b', { n: 1 }],
      ['c', { n: 1 }],
      ['d', { b: 2, c: false }],
    ]);
    expect([row.status, output]).toEqual(['COMPLETED', 'end']);
  });

  it('DEF-5: parses the stored run input once by the run schema, then by the first stage schema', async () => {
    const seen: unknown[] = [];
    const input = z.string().transform(Number);
    await run([stage('a', (ctx) => void seen.push(ctx.input, ctx.run.input), { input: z.number() })], '42', { input });
    expect(seen).toEqual([42, '42']);
  });

  it('GRP-4: gives undefined after a stage that skipped itself, and leaves a skipped branch out', async () => {
    const seen: unknown[] = [];
    await run([
      stage('a', (ctx) => ctx.skip('nothing to do')),
      stage('b', (ctx) => void seen.push(ctx.input)),
      [stage('c', (ctx) => ctx.skip('no')), stage('d', () => 0)],
      stage('e', (ctx) => void seen.push(ctx.input, ctx.optional('c'))),
    ]);
    expect(seen).toEqual([undefined, { d: 0 }, undefined]);
  });

  it('RUN-3: answers require by key and by class; falsy outputs are values, missing ones throw', async () => {
    const zero = stage('zero', () => 0);
    const seen: unknown[] = [];
    const { stageRuns } = await run([
      zero,
      stage('ask', (ctx) => void seen.push(ctx.require('zero'), ctx.require(zero as never), ctx.optional('later'))),
      stage('later', (ctx) => ctx.require('nowhere')),
    ]);
    expect(seen).toEqual([0, 0, undefined]);
    expect(stageRuns[2]).toMatchObject({ status: 'FAILED', errorCode: 'OUTPUT_MISSING' });
  });

  it('DEF-1: makes the provider anew for each execution, and gives the context its owner and actor', async () => {
    let made = 0;
    const owners: unknown[] = [];
    const make = () => ({ execute: (ctx: StageContext) => void owners.push(ctx.owner, ctx.actor, ++made) });
    const flow = workflow('flow', [stage('a', () => null, { make })], { actor: 'on_behalf_of' });
    engine = new TestEngine([flow]);
    engine.scope.loadOwner = (id) => ({ id });
    await engine.start(flow, null, { ownerId: 'team', actor: '{"id":7}' });
    await engine.drain();
    expect(owners).toEqual([{ id: 'team' }, { id: 7 }, 1]);
    expect(engine.scope.opened[0]).toMatchObject({
      ownerId: 'team',
      startedBy: { id: 7 },
      stage: { key: 'a', attempt: 1 },
    });
  });
});

describe('how an attempt ends', () => {
  it('FAULT A3: stores a void result as null', async () => {
    expect((await run([stage('a', () => undefined)])).output).toBeNull();
  });

  it('FAULT L3: a BigInt in an output fails the attempt INVALID_OUTPUT for good, naming the path', async () => {
    const { stageRuns, run: row } = await run([stage('a', () => ({ n: 10n }))]);
    expect(stageRuns[0]).toMatchObject({ status: 'FAILED', attempt: 1, errorCode: 'INVALID_OUTPUT' });
    expect(row.failureMessage).toContain('$.n');
  });

  it('FAULT A7: an output over the limit fails INVALID_OUTPUT with the limit in its message', async () => {
    const { run: row } = await run([stage('a', () => 'x'.repeat(70_000))]);
    expect(row).toMatchObject({ failureCode: 'INVALID_OUTPUT' });
    expect(row.failureMessage).toContain('limits.maxOutputBytes');
  });

  it('DEF-5: stores an output as its schema parsed it; one that does not fit is never retried', async () => {
    const output = z.object({ n: z.coerce.number() });
    expect((await run([stage('a', () => ({ n: '1', extra: true }), { output })])).output).toEqual({ n: 1 });
    await engine.close();
    const { stageRuns } = await run([stage('a', () => ({ n: 'x' }), { output })]);
    expect(stageRuns[0]).toMatchObject({ status: 'FAILED', attempt: 1, errorCode: 'INVALID_OUTPUT' });
  });

  it('RETRY-3: an input that does not fit is INVALID_INPUT, never retried', async () => {
    const { stageRuns } = await run([stage('a', () => 1, { input: z.object({ url: z.string() }) })], {});
    expect(stageRuns[0]).toMatchObject({ status: 'FAILED', attempt: 1, errorCode: 'INVALID_INPUT' });
  });

  it.each([
    ['an error', new Error('no')],
    ['a string', 'no'],
    ['undefined', undefined],
    ['a bad proxy', Proxy.revocable({}, {}).proxy],
  ])('RETRY-3: retries whatever else is thrown as EXCEPTION: %s', async (_, thrown) => {
    const { stageRuns, attempts } = await run([stage('a', () => Promise.reject(thrown as Error))]);
    expect(stageRuns[0]).toMatchObject({ status: 'FAILED', attempt: 3, errorCode: 'EXCEPTION' });
    expect(attempts).toHaveLength(3);
  });

  it('RETRY-3: does not retry a NonRetryableError', async () => {
    const { stageRuns } = await run([
      stage('a', () => {
        throw new NonRetryableError('closed');
      }),
    ]);
    expect(stageRuns[0]).toMatchObject({ status: 'FAILED', attempt: 1, errorCode: 'NON_RETRYABLE' });
  });

  it('FAULT F11: retries by the same policy what making the provider or loading the owner throws', async () => {
    let made = 0;
    const make = () => {
      if (++made < 3) throw new Error('its dependency is not there');
      return { execute: () => 'made' };
    };
    const { stageRuns, output } = await run([stage('a', () => null, { make })]);
    expect([stageRuns[0]!.attempt, output]).toEqual([3, 'made']);
    await engine.close();
    const flow = workflow('flow', [stage('a', () => 1)]);
    engine = new TestEngine([flow]);
    engine.scope.loadOwner = () => {
      throw new Error('no such team');
    };
    const runId = await engine.start(flow);
    await engine.drain();
    expect((await engine.history(runId)).stageRuns[0]).toMatchObject({ errorCode: 'EXCEPTION', attempt: 3 });
  });

  it('FAULT A9: an error with cycles fails the stage like any other', async () => {
    const error = Object.assign(new Error('axios'), { response: {} as Record<string, unknown> });
    error.response.request = error;
    Object.assign(error, { self: error, cause: error });
    expect(
      (
        await run([
          stage('a', () => {
            throw error;
          }),
        ])
      ).run.failureMessage,
    ).toBe('axios');
  });
});

describe('a body that has returned', () => {
  it('STEP-5: a wait that is still open does not put the stage to sleep while its output is checked', async () => {
    const output = z.string().refine(() => turns(50).then(() => true));
    const waiting = stage(
      'a',
      async (ctx) => {
        await Promise.race([ctx.step.waitForSignal('stop').then(() => 'stopped'), ctx.step.run('b', () => 1)]);
        return 'done';
      },
      { output },
    );
    const { run: row, output: given } = await run([waiting]);
    expect([row.status, given]).toEqual(['COMPLETED', 'done']);
  });
});

describe('the time limit of an attempt', () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
  afterEach(() => jest.useRealTimers());

  it('RETRY-6, STEP-5: the time limit holds for a step that nobody awaits, too', async () => {
    const goOn = signal();
    const forgetful = stage(
      'a',
      (ctx) => {
        if (ctx.attempt === 1) void ctx.step.run('slow', () => goOn);
        return ctx.attempt;
      },
      { timeoutMs: 5_000 },
    );
    const flow = workflow('flow', [forgetful]);
    engine = new TestEngine([flow]);
    const runId = await engine.start(flow);
    const drained = engine.drain();
    await turns();
    jest.advanceTimersByTime(5_000);
    await drained;
    goOn.fire();
    await turns();
    expect((await engine.history(runId)).attempts).toMatchObject([{ attempt: 1, code: 'STAGE_TIMEOUT' }]);
    expect(await engine.output(runId)).toBe(2);
  });

  it('RETRY-6: ends the attempt STAGE_TIMEOUT, aborts its signal, and drops what the body does afterwards', async () => {
    const goOn = signal();
    const reasons: unknown[] = [];
    const flow = workflow('flow', [
      stage(
        'slow',
        async (ctx) => {
          if (ctx.attempt > 1) return 'second';
          ctx.abortSignal.addEventListener('abort', () =>
            reasons.push((ctx.abortSignal.reason as { reason: string }).reason),
          );
          await goOn;
          throw new Error('too late');
        },
        { timeoutMs: 5_000 },
      ),
    ]);
    engine = new TestEngine([flow]);
    const runId = await engine.start(flow);
    const drained = engine.drain();
    await turns();
    jest.advanceTimersByTime(5_000);
    await drained;
    goOn.fire();
    await turns();
    expect(reasons).toEqual(['timeout']);
    const { attempts, run: row } = await engine.history(runId);
    expect(attempts).toMatchObject([{ attempt: 1, code: 'STAGE_TIMEOUT' }]);
    expect(row).toMatchObject({ status: 'COMPLETED', output: '"second"' });
    expect(engine.log.matching('warn', 'too late')).toHaveLength(1);
  });
});
