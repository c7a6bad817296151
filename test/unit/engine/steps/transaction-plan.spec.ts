import { signal } from '../../runtime/support/signals.js';
import { SmallStage, type Passed } from './support/small-stage.js';

const value = (passed: Passed): unknown => (passed.kind === 'returned' ? passed.value : passed);
const RETRY = { retry: { maxAttempts: 2, backoff: '1h', jitter: 0 } } as const;

describe('transactions', () => {
  it('TX-3: the place is given before the commit, and what comes after waits for it', async () => {
    const committing = signal();
    const order: unknown[] = [];
    const stage = new SmallStage(async ({ step }) => {
      const slow = step.transaction('slow', () => 'slow').then((is) => order.push(is));
      const quick = committing.then(() => step.run('quick', () => 'quick')).then((is) => order.push(is));
      await Promise.all([slow, quick]);
      return order;
    });
    const journal = stage.ledger.journal.bind(stage.ledger);
    stage.ledger.journal = () => {
      const plain = journal();
      return {
        ...plain,
        commits: () => (body) =>
          plain.commits()(async (manager) => {
            const write = await body(manager);
            committing.fire();
            for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
            return write;
          }),
      };
    };
    expect(value(await stage.run())).toEqual(['slow', 'quick']);
    expect(stage.ledger.read().map(({ key, seq }) => [key, seq])).toEqual([
      ['slow#1', 1],
      ['quick#1', 2],
    ]);
  });

  it('LEASE-5, TX-3: a commit whose answer was lost counts; its body is not called again', async () => {
    let calls = 0;
    const stage = new SmallStage(({ step }) => step.transaction('pay', () => ++calls));
    stage.ledger.transactions.push('lost');
    expect(value(await stage.run())).toBe(1);
    expect(calls).toBe(1);
  });

  it('TX-3: one that was rolled back for now is done again, in a place of its own', async () => {
    let calls = 0;
    const stage = new SmallStage(({ step }) => step.transaction('pay', () => ++calls));
    stage.ledger.transactions.push('busy', 'busy');
    expect(value(await stage.run())).toBe(3);
    expect(stage.ledger.read()).toMatchObject([{ key: 'pay#1', kind: 'transaction', seq: 3 }]);
  });

  it('TX-3: places that it took along are the next write’s, when it is rolled back', async () => {
    const stage = new SmallStage(async ({ step }) => {
      await step.sleep('nap', '1h');
      return step.transaction('pay', () => 'paid');
    });
    stage.ledger.transactions.push('busy');
    expect(value(await stage.run())).toBe('paid');
    expect(stage.ledger.read()).toMatchObject([
      { key: 'nap#1', seq: 1 },
      { key: 'pay#1', seq: 3 },
    ]);
  });

  it('TX-3: one that is not fenced ends the attempt', async () => {
    const stage = new SmallStage(({ step }) => step.transaction('pay', () => 'paid'));
    stage.ledger.transactions.push('not-fenced');
    expect(await stage.pass()).toEqual({ kind: 'unfenced' });
    expect(stage.ledger.read()).toEqual([]);
  });

  it.each(['cancelled', 'lease-lost'] as const)(
    'TX-3: of an attempt that is %s nothing is written',
    async (aborted) => {
      for (const fails of [true, false]) {
        const stage: SmallStage = new SmallStage(({ step }) =>
          step.transaction('pay', () => {
            stage.aborted = aborted;
            if (fails) throw new Error('no');
          }),
        );
        expect(await stage.pass()).toEqual({ kind: 'unfenced' });
        expect(stage.ledger.read()).toEqual([]);
      }
    },
  );

  it('LEASE-6, TX-3: what fails while the process shuts down is handed back', async () => {
    const stage: SmallStage = new SmallStage(({ step }) =>
      step.transaction('pay', () => {
        stage.draining = true;
        throw new Error('closed');
      }),
    );
    expect(await stage.pass()).toEqual({ kind: 'shutdown' });
    expect(stage.ledger.read()).toEqual([]);
  });

  it('TX-3: of a body that has ended meanwhile nothing is committed', async () => {
    const inside = signal();
    const goOn = signal();
    const stage = new SmallStage(async ({ step }) => {
      const helper = async (): Promise<void> => {
        await step.transaction('pay', async () => {
          inside.fire();
          await goOn;
        });
      };
      void helper();
      await inside;
      return 'ended';
    });
    stage.ledger.transactions.push('busy', 'busy');
    expect(value(await stage.pass())).toBe('ended');
    expect(stage.warnings).toEqual([expect.stringMatching(/^UNAWAITED_STEP: .*"pay"/)]);
    goOn.fire();
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(stage.ledger.read()).toEqual([]);
    expect(stage.ledger.transactions).toHaveLength(2);
  });

  it('TX-3: a failure is recorded once its tries are used up, the last of which may be far off', async () => {
    let calls = 0;
    const stage = new SmallStage(({ step }) =>
      step.transaction('pay', () => Promise.reject(new TypeError(`no ${++calls}`)), RETRY),
    );
    expect(await stage.run()).toMatchObject({ kind: 'threw', error: { name: 'TypeError', message: 'no 2' } });
    expect(stage.ledger.now).toBe(3_600_000);
    expect(stage.ledger.read()).toMatchObject([{ status: 'failed' }]);
  });

  it('TX-3: a name and a function are needed', async () => {
    const stage = new SmallStage(({ step }) => step.transaction('', 'no' as never));
    expect(await stage.pass()).toMatchObject({ kind: 'threw', error: { code: 'INVALID_STEP' } });
  });
});
