import { signal } from '../../runtime/support/signals.js';
import { SmallStage, type Body, type BodyScope, type Passed } from './support/small-stage.js';

const macrotasks = async (count = 20): Promise<void> => {
  for (let n = 0; n < count; n++) await new Promise((resolve) => setImmediate(resolve));
};
const value = (passed: Passed): unknown => (passed.kind === 'returned' ? passed.value : passed);
const statuses = (stage: SmallStage): Record<string, string> =>
  Object.fromEntries(stage.ledger.read().map(({ key, status }) => [key, status]));
const slowly = (): Promise<void> => macrotasks(40);
const boom = async (): Promise<never> => {
  await slowly();
  throw new TypeError('boom');
};

/** What a body returns with, of steps that it does not await. */
const returning =
  (begin: (ctx: BodyScope) => unknown): Body =>
  async (ctx) => {
    begin(ctx);
    return 'returned';
  };

describe('what nobody looks at', () => {
  it.each<[string, (ctx: BodyScope) => unknown, string[]]>([
    ['a step', ({ step }) => step.run('a', slowly), ['a#1']],
    ['an effect', ({ step }) => step.once('a', slowly), ['a#1']],
    ['a transaction', ({ step }) => step.transaction('a', slowly), ['a#1']],
    ['the start of a child', ({ step }) => step.runWorkflow('a', {}, 1, { wait: false }), ['a#1']],
    ['a step whose failure is handled', ({ step }) => step.run('a', slowly).catch(() => undefined), ['a#1']],
    ['what follows a step', ({ step }) => step.run('a', slowly).then(() => step.run('b', slowly)), ['a#1', 'b#1']],
    [
      'what is always to follow',
      ({ step }) => step.run('a', slowly).finally(() => step.run('b', slowly) as never),
      ['a#1', 'b#1'],
    ],
    ['several', ({ step }) => [step.run('a', slowly), step.run('b', slowly)], ['a#1', 'b#1']],
    [
      'all of many',
      ({ step }) => step.all('many', [1, 2], (_, each) => each.run('a', slowly)),
      ['many#1[0]/a#1', 'many#1[1]/a#1'],
    ],
    ['plain work', ({ replay, step }) => replay.local(() => slowly().then(() => step.run('a', slowly))), ['a#1']],
  ])('STEP-5: the stage is over when it is: %s', async (_what, begin, keys) => {
    const stage = new SmallStage(returning(begin));
    expect(value(await stage.run())).toBe('returned');
    expect(statuses(stage)).toEqual(Object.fromEntries(keys.map((key) => [key, 'completed'])));
    expect(stage.warnings).toEqual([]);
  });

  it.each<[string, (ctx: BodyScope) => unknown]>([
    ['a step', ({ step }) => step.run('a', boom)],
    ['a transaction', ({ step }) => step.transaction('a', boom)],
    ['what follows a step', ({ step }) => step.run('a', slowly).then(boom)],
    ['one of many', ({ step }) => step.all('many', [1, 2], (_, each) => each.run('a', boom))],
    ['plain work', ({ replay }) => replay.local(boom)],
  ])('STEP-5: what it fails with, the body fails with: %s', async (_what, begin) => {
    const stage = new SmallStage(returning(begin));
    expect(await stage.run()).toMatchObject({ kind: 'threw', error: { name: 'TypeError', message: 'boom' } });
    expect(stage.warnings).toEqual([expect.stringMatching(/^UNAWAITED_STEP: .* failed/)]);
  });

  it('STEP-5: one that failed long before the body returned does, too', async () => {
    const stage = new SmallStage(async ({ step }) => {
      void step.run('a', boom);
      await step.sleep('nap', '1h');
      await step.run('b', () => 1);
    });
    expect(await stage.run()).toMatchObject({ kind: 'threw', error: { message: 'boom' } });
    expect(statuses(stage)).toEqual({ 'a#1': 'failed', 'nap#1': 'completed', 'b#1': 'completed' });
  });

  it('STEP-5: a call that was refused does, too', async () => {
    const stage = new SmallStage(returning(({ step }) => step.run('', () => 1)));
    expect(await stage.run()).toMatchObject({ kind: 'threw', error: { code: 'INVALID_STEP' } });
  });

  it('STEP-5, STEP-7: all that failed is opened again, so that the next attempt can do better', async () => {
    const stage = new SmallStage(
      returning(({ step }) => [step.run('a', boom), step.run('b', boom), step.run('c', slowly)]),
    );
    expect(await stage.run()).toMatchObject({ kind: 'threw', error: { message: 'boom' } });
    expect(stage.lastEnd?.reopen).toEqual(['a#1', 'b#1']);
  });

  it('STEP-5: between two tries it waits in the store as any other', async () => {
    let tries = 0;
    const stage = new SmallStage(
      returning(({ step }) =>
        step.run('a', () => (++tries === 1 ? boom() : tries), {
          retry: { maxAttempts: 2, backoff: '1h', jitter: 0 },
        }),
      ),
    );
    expect(value(await stage.run())).toBe('returned');
    expect([tries, stage.passes, stage.ledger.now]).toEqual([2, 2, 3_600_000]);
  });
});

describe('what was looked at', () => {
  it.each<[string, (ctx: BodyScope) => unknown]>([
    ['a handled failure', ({ step }) => step.run('a', boom).catch(() => undefined)],
    [
      'a caught failure',
      async ({ step }) => {
        try {
          await step.run('a', boom);
        } catch {
          // On with it.
        }
      },
    ],
    [
      'a loser that fails',
      async ({ step }) => {
        await Promise.race([step.run('a', boom), step.run('b', () => 1)]);
        await step.run('c', () => macrotasks(80));
      },
    ],
    ['failures of any', ({ step }) => Promise.any([step.run('a', boom), step.run('b', slowly)])],
    ['all, settled', ({ step }) => Promise.allSettled([step.run('a', boom), step.run('b', boom)])],
    ['all, caught', ({ step }) => Promise.all([step.run('a', boom), step.run('b', boom)]).catch(() => undefined)],
    [
      'one that is awaited late',
      async ({ step }) => {
        const late = step.run('a', boom);
        await step.sleep('nap', '1h');
        await late.catch(() => undefined);
      },
    ],
    [
      'one that settles another promise',
      ({ step }) => new Promise((resolve) => step.run('a', boom).then(resolve, () => resolve(undefined))),
    ],
  ])('STEP-5: fails nobody: %s', async (_what, begin) => {
    const stage = new SmallStage(async (ctx) => {
      await begin(ctx);
      return 'returned';
    });
    expect(value(await stage.run())).toBe('returned');
    expect(stage.warnings).toEqual([]);
  });

  it('STEP-5: a loser that is still at it holds nothing up, and neither does what a race was made of', async () => {
    const never = signal();
    const stage = new SmallStage(async ({ step }) => {
      await Promise.race([
        step.run('a', () => never),
        step.run('b', () => never).then(() => 'b'),
        new Promise((resolve, reject) => void step.run('c', () => never).then(() => resolve('c'), reject)),
        step.run('d', () => 1),
      ]);
      return 'returned';
    });
    expect(value(await stage.pass())).toBe('returned');
    never.fire();
  });

  it.each<[string, (ctx: BodyScope) => unknown]>([
    ['a wait', ({ step }) => step.sleep('nap', '1h')],
    ['what follows a wait', ({ step }) => step.waitForSignal('stop').then(() => step.run('b', slowly))],
    ['a wait that follows a step', ({ step }) => step.run('a', slowly).then(() => step.sleep('nap', '1h'))],
    ['items that wait', ({ step }) => step.all('many', [1], (_, each) => each.sleep('nap', '1h'))],
    ['the end of a child', ({ step }) => step.runWorkflow('a', {}, 1)],
  ])('STEP-5: a wait that the body does not await holds nothing up: %s', async (_what, begin) => {
    const stage = new SmallStage(returning(begin));
    expect(value(await stage.pass())).toBe('returned');
  });

  it('STEP-9: a child that nobody waits for is started all the same', async () => {
    const stage = new SmallStage(returning(({ step }) => step.runWorkflow('a', {}, 1)));
    let started = false;
    stage.startChild = async () => {
      await slowly();
      started = true;
      return { runId: 'child' };
    };
    expect(value(await stage.pass())).toBe('returned');
    expect(started).toBe(true);
  });

  it('STEP-5: once the body has returned, what it still awaits does not put the stage to sleep', async () => {
    const stage = new SmallStage(returning(({ step }) => step.waitForSignal('stop').then(() => undefined)));
    expect(value(await stage.pass())).toBe('returned');
    await macrotasks(40);
    expect(stage.ledger.read()).toEqual([]);
    expect(stage.replay?.over).toBe(true);
  });
});
