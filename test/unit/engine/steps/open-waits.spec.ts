import { NonRetryableError } from '../../../../lib/errors/index.js';
import { signal } from '../../runtime/support/signals.js';
import { SmallStage, type Body, type Passed } from './support/small-stage.js';

const macrotasks = async (count = 40): Promise<void> => {
  for (let n = 0; n < count; n++) await new Promise((resolve) => setImmediate(resolve));
};

describe('waits beside a running step', () => {
  it('WAIT-2: a wait whose write is under way when the body ends counts as open: it is cancelled with the outcome', async () => {
    const [writing, goOn] = [signal(), signal()];
    const stage = new SmallStage((ctx) =>
      Promise.race([
        ctx.step.waitForSignal('stop'),
        ctx.step.run('work', async () => {
          await writing;
          return 'done';
        }),
      ]),
    );
    stage.ledger.before = async ({ op }) => {
      if (op !== 'wait') return;
      writing.fire();
      await goOn;
    };
    expect(await stage.pass()).toEqual({ kind: 'returned', value: 'done' });
    expect(stage.lastEnd).toMatchObject({ used: true, openWaits: true });
    goOn.fire();
    await macrotasks();
    expect(stage.ledger.rows.get('stop#1')).toMatchObject({ status: 'waiting' });
  });

  it('WAIT-2: a body that never waited has nothing to cancel', async () => {
    const stage = new SmallStage((ctx) => ctx.step.run('work', () => 'done'));
    await stage.pass();
    expect(stage.lastEnd).toMatchObject({ openWaits: false });
  });

  it('STEP-7: a try that is to follow counts as a wait, also while it is written', async () => {
    const stage = new SmallStage(async (ctx) => {
      const retried = ctx.step.run('flaky', () => Promise.reject(new Error('no')), {
        retry: { maxAttempts: 2, backoff: '10 min' },
      });
      return Promise.race([retried, ctx.step.run('other', () => macrotasks(20).then(() => 'other'))]);
    });
    expect(await stage.pass()).toMatchObject({ kind: 'returned', value: 'other' });
    expect(stage.lastEnd).toMatchObject({ openWaits: true });
  });

  it('WAIT-3: what a wait is for may be there when it is written: the body has it at once', async () => {
    const goOn = signal();
    const stage = new SmallStage((ctx) =>
      Promise.race([ctx.step.waitForSignal('stop'), ctx.step.run('long', () => goOn)]),
    );
    stage.ledger.answer = ([wait]) => {
      stage.ledger.end(wait!.key, '"lay there"');
      return true;
    };
    expect(await stage.pass()).toEqual({ kind: 'returned', value: 'lay there' });
    goOn.fire();
  });

  it('WAIT-3: one that is awaited later than others is asked for anew, one that only stands is not', async () => {
    const [goOn, asked] = [signal(), [] as string[]];
    const stage = new SmallStage(async (ctx) => {
      const stop = ctx.step.waitForSignal('stop');
      const nap = ctx.step.sleep('nap', '1h');
      const long = ctx.step.run('long', () => goOn.then(() => 'long'));
      await Promise.race([stop, nap, ctx.step.run('first', () => macrotasks())]);
      return Promise.race([stop, nap, long]);
    });
    stage.ledger.answer = (waits) => {
      asked.push(waits.map(({ key }) => key).join());
      return false;
    };
    const passing = stage.pass();
    await macrotasks(200);
    goOn.fire();
    expect(await passing).toEqual({ kind: 'returned', value: 'long' });
    expect(asked).toEqual(['stop#1,nap#1', 'stop#1']);
  });
});

describe('a process that shuts down', () => {
  const handedBack = async (body: Body): Promise<{ passed: Passed; stage: SmallStage }> => {
    const stage = new SmallStage(body);
    stage.draining = true;
    return { passed: await stage.pass(), stage };
  };

  it('LEASE-6: what throws is nobody’s failure, whichever call it comes from', async () => {
    const fails = (): never => {
      throw new Error('The pool is closed.');
    };
    for (const body of [
      (ctx) => ctx.step.run('a', fails),
      (ctx) => ctx.step.run('a', () => Promise.reject(new NonRetryableError('closed'))),
      (ctx) => ctx.step.waitFor('a', fails, { every: '1 min' }),
      (ctx) => ctx.step.transaction('a', fails),
    ] satisfies Body[]) {
      const { passed, stage } = await handedBack(body);
      expect(passed.kind).toBe('shutdown');
      expect(stage.ledger.read().filter(({ status }) => status === 'failed')).toEqual([]);
    }
  });

  it('LEASE-6: what the engine found in a payload holds all the same', async () => {
    for (const body of [
      (ctx) => ctx.step.run('a', () => 10n),
      (ctx) => ctx.step.waitFor('a', () => 10n, { every: '1 min' }),
      (ctx) => ctx.step.transaction('a', () => 10n),
    ] satisfies Body[]) {
      const { passed } = await handedBack(body);
      expect(passed).toMatchObject({ kind: 'threw', error: { code: 'INVALID_OUTPUT' } });
    }
  });

  it('LEASE-6: it is handed back only when its other bodies have ended, and those keep what they did', async () => {
    const [failed, goOn] = [signal(), signal()];
    const stage = new SmallStage((ctx) =>
      Promise.all([
        ctx.step.run('fails', () => {
          failed.fire();
          throw new Error('The pool is closed.');
        }),
        ctx.step.run('works', () => goOn.then(() => 'paid')),
      ]),
    );
    stage.draining = true;
    let ended = false;
    const passing = stage.pass().finally(() => (ended = true));
    await failed;
    await macrotasks();
    expect(ended).toBe(false);
    goOn.fire();
    expect((await passing).kind).toBe('shutdown');
    expect(stage.ledger.rows.get('works#1')).toMatchObject({ status: 'completed', result: '"paid"', seq: null });
    stage.draining = false;
    expect(stage.ledger.rows.get('fails#1')).toMatchObject({ status: 'running' });
  });
});
