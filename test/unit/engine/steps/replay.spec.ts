import { NonRetryableError, WorkflowError } from '../../../../lib/errors/index.js';
import { signal } from '../../runtime/support/signals.js';
import { SmallLedger } from './support/small-ledger.js';
import { SmallStage, type Body, type Passed } from './support/small-stage.js';

const macrotasks = async (count = 20): Promise<void> => {
  for (let n = 0; n < count; n++) await new Promise((resolve) => setImmediate(resolve));
};

/** What each step's body did, in order, over all passes. */
function effects(): { readonly did: string[]; step: <T>(name: string, value: T) => () => T } {
  const did: string[] = [];
  return { did, step: (name, value) => () => (did.push(name), value) };
}

const keys = (ledger: SmallLedger): string[] => ledger.read().map(({ key }) => key);
const statuses = (ledger: SmallLedger): Record<string, string> =>
  Object.fromEntries(ledger.read().map(({ key, status }) => [key, status]));
const value = (passed: Passed): unknown => (passed.kind === 'returned' ? passed.value : passed);

describe('steps', () => {
  it('STEP-1: a completed step answers from the ledger when the body is replayed', async () => {
    const { did, step } = effects();
    const stage = new SmallStage(async (ctx) => {
      const a = await ctx.step.run('a', step('a', 1));
      await ctx.step.sleep('nap', '1h');
      const b = await ctx.step.run('b', step('b', 2));
      return [a, b];
    });
    expect(value(await stage.run())).toEqual([1, 2]);
    expect(did).toEqual(['a', 'b']);
    expect(stage.passes).toBe(2);
    expect(stage.ledger.now).toBe(3_600_000);
  });

  it('FAULT A4, FAULT K34: a body sees what is stored, live as well as replayed', async () => {
    const seen: unknown[] = [];
    const stage = new SmallStage(async (ctx) => {
      seen.push(await ctx.step.run('a', () => ({ keep: 1, drop: undefined, list: [] as number[] })));
      seen.push(await ctx.step.run('void', () => undefined));
      await ctx.step.sleep('nap', '1h');
    });
    await stage.run();
    expect(seen).toStrictEqual([{ keep: 1, list: [] }, null, { keep: 1, list: [] }, null]);
  });

  it('FAULT L3: what JSON does not hold fails the step and names the path', async () => {
    const stage = new SmallStage((ctx) => ctx.step.run('big', () => ({ n: 10n })));
    const passed = await stage.run();
    expect(passed).toMatchObject({ kind: 'threw', error: { code: 'INVALID_OUTPUT' } });
    expect((passed as { error: Error }).error.message).toContain('n');
  });

  it('FAULT A16: a replayed error equals the recorded one: name, message, code, frames, cause', async () => {
    const seen: Error[] = [];
    const stage = new SmallStage(async (ctx) => {
      const fail = (): never => {
        throw new TypeError('no such thing', { cause: new Error('because') });
      };
      await ctx.step.run('a', fail).catch((error: Error) => seen.push(error));
      await ctx.step.sleep('nap', '1h');
    });
    await stage.run();
    const [live, replayed] = seen.map(({ name, message, stack, cause }) => ({
      name,
      message,
      stack,
      cause: String(cause),
    }));
    expect(live).toEqual(replayed);
    expect(live).toMatchObject({ name: 'TypeError', message: 'no such thing', cause: 'Error: because' });
  });

  it('STEP-11: a name used for another kind of step is a mismatch that names both', async () => {
    let changed = false;
    const stage = new SmallStage(async (ctx) => {
      if (changed) await ctx.step.sleep('a', '1h');
      else await ctx.step.run('a', () => 1);
      await ctx.step.sleep('nap', '1h');
    });
    stage.ledger.suspend(((await stage.pass()) as Extract<Passed, { kind: 'suspended' }>).suspension);
    changed = true;
    const passed = await stage.pass();
    expect(passed).toMatchObject({ kind: 'threw', error: { code: 'STEP_MISMATCH' } });
    expect((passed as { error: Error }).error.message).toMatch(/run.*sleep|sleep.*run/s);
  });

  it('FAULT E12: names may repeat in loops; each occurrence is a step of its own', async () => {
    const { did, step } = effects();
    const stage = new SmallStage(async (ctx) => {
      for (let n = 0; n < 3; n++) {
        await ctx.step.run('send', step(`send ${n}`, n));
        await ctx.step.sleep('pause', '1h');
      }
    });
    await stage.run();
    expect(did).toEqual(['send 0', 'send 1', 'send 2']);
    expect(stage.ledger.now).toBe(3 * 3_600_000);
  });

  it('STEP-2: no two names share a key, whatever stands in them', async () => {
    const stage = new SmallStage(async (ctx) => {
      await ctx.step.all('a', [0], (_item, step) => step.run('b', () => 1));
      await ctx.step.run('a#1[0]/b', () => 2);
      await ctx.step.run('@lease', () => 3);
      await ctx.step.run('x%23', () => 4);
      await ctx.step.run('x#', () => 5);
    });
    await stage.run();
    expect(new Set(keys(stage.ledger)).size).toBe(5);
  });

  it('STEP-7: a step has its own retry, in place', async () => {
    let tries = 0;
    const stage = new SmallStage((ctx) =>
      ctx.step.run(
        'a',
        ({ attempt }) => {
          tries++;
          if (attempt < 3) throw new Error('not yet');
          return attempt;
        },
        { retry: { maxAttempts: 3, backoff: '1s' } },
      ),
    );
    expect(value(await stage.run())).toBe(3);
    expect([tries, stage.passes]).toEqual([3, 1]);
  });

  it('STEP-7: a long pause between two tries is a wait: the stage suspends', async () => {
    const attempts: number[] = [];
    const stage = new SmallStage((ctx) =>
      ctx.step.run(
        'a',
        ({ attempt }) => {
          attempts.push(attempt);
          if (attempt < 3) throw new Error('not yet');
          return 'done';
        },
        { retry: { maxAttempts: 3, backoff: '10 min' } },
      ),
    );
    expect(value(await stage.run())).toBe('done');
    expect([attempts, stage.passes, stage.ledger.now]).toEqual([[1, 2, 3], 3, 1_200_000]);
  });

  it('STEP-7: what a stage failed with says which steps its retry opens again', async () => {
    const stage = new SmallStage(async (ctx) => {
      await ctx.step.run('caught', () => Promise.reject(new Error('fine'))).catch(() => undefined);
      await ctx.step.run('fatal', () => Promise.reject(new Error('boom')));
    });
    expect(await stage.pass()).toMatchObject({ kind: 'threw', error: { message: 'boom' } });
    expect(stage.lastEnd!.reopen).toEqual(['fatal#1']);
  });

  it('STEP-7: a failure that was wrapped by its cause counts, and one that says nothing opens all', async () => {
    const wrap = (options?: (cause: unknown) => ErrorOptions): SmallStage =>
      new SmallStage(async (ctx) => {
        await ctx.step.run('caught', () => Promise.reject(new Error('fine'))).catch(() => undefined);
        try {
          await ctx.step.run('fatal', () => Promise.reject(new Error('boom')));
        } catch (error) {
          // oxlint-disable-next-line eslint/preserve-caught-error -- with and without it is what is tested
          throw new Error('charge failed', options?.(error));
        }
      });
    const [wrapped, bare] = [wrap((cause) => ({ cause })), wrap()];
    await wrapped.pass();
    await bare.pass();
    expect(wrapped.lastEnd!.reopen).toEqual(['fatal#1']);
    expect(bare.lastEnd!.reopen).toEqual(['caught#1', 'fatal#1']);
  });

  it('RETRY-3: a final error stays final when a body lets it escape', async () => {
    const stage = new SmallStage((ctx) =>
      ctx.step.run(
        'a',
        () => {
          throw new NonRetryableError('never');
        },
        { retry: { maxAttempts: 5, backoff: '1s' } },
      ),
    );
    const passed = (await stage.run()) as Extract<Passed, { kind: 'threw' }>;
    expect(WorkflowError.is(passed.error)).toBe(true);
    expect(passed.error).toMatchObject({ message: 'never', retryable: false });
  });

  it('STEP-8: an effect is found by later passes, and by a stage run that begins anew', async () => {
    const { did, step } = effects();
    const body: Body = (ctx) => ctx.step.once('charge', step('charge', 'receipt'));
    const stage = new SmallStage(body);
    expect(value(await stage.run())).toBe('receipt');
    const again = new SmallStage(body);
    for (const [name, result] of stage.ledger.effects) again.ledger.effects.set(name, result);
    expect(value(await again.run())).toBe('receipt');
    expect(did).toEqual(['charge']);
  });

  it('a step inside the body of a step is refused', async () => {
    const stage = new SmallStage((ctx) => ctx.step.run('outer', () => ctx.step.run('inner', () => 1)));
    expect(await stage.run()).toMatchObject({ kind: 'threw', error: { code: 'STEP_NESTED' } });
  });

  it.each<[string, Body]>([
    ['an empty name', (ctx) => ctx.step.run('', () => 1)],
    ['a name that is none', (ctx) => ctx.step.sleep(undefined as never, '1s')],
    ['a name that is too long', (ctx) => ctx.step.run('x'.repeat(201), () => 1)],
    ['a body that is none', (ctx) => ctx.step.run('a', undefined as never)],
    ['an event without a key', (ctx) => ctx.step.waitForEvent('a', {} as never)],
    ['a date that is none', (ctx) => ctx.step.sleepUntil('a', 'tomorrow')],
    ['no concurrency', (ctx) => ctx.step.all('a', [1], () => 1, { concurrency: 0 })],
  ])('bad calls are refused with what is wrong: %s', async (_what, body) => {
    const stage = new SmallStage(body);
    expect(await stage.run()).toMatchObject({ kind: 'threw', error: { code: 'INVALID_STEP' } });
    expect(stage.ledger.rows.size).toBe(0);
  });

  it('a rejected call that nobody looks at does not end the process', async () => {
    const unhandled = jest.fn();
    process.on('unhandledRejection', unhandled);
    const stage = new SmallStage(async (ctx) => {
      void ctx.step.run('a', () => Promise.reject(new Error('boom')));
      void ctx.step.run('', () => 1);
      void ctx.step.all('all', [1, 2], () => Promise.reject(new Error('boom')));
      void ctx.step.run('b', () => 1).then(() => Promise.reject(new Error('boom')));
      void ctx.step.run('c', () => Promise.reject(new Error('boom'))).finally(() => undefined);
      void ctx.step.run('d', () => Promise.reject(new Error('boom'))).finally();
      void ctx.replay.local(() => Promise.reject(new Error('boom')));
      await ctx.step.sleep('nap', '1h');
      return 'fine';
    });
    expect(await stage.run()).toMatchObject({ kind: 'threw', error: { message: 'boom' } });
    await macrotasks();
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });
});

describe('order', () => {
  it('STEP-2: branches with steps of one name get their own results back, however they ended', async () => {
    const saved: string[] = [];
    let live = true;
    const stage = new SmallStage(async (ctx) => {
      const branch = async (item: string, ticks: number): Promise<void> => {
        const fetched = await ctx.step.run('fetch', async () => {
          if (live) await macrotasks(ticks);
          return item;
        });
        await ctx.step.run('save', () => void saved.push(`${item}:${fetched}`));
      };
      // The second branch is through first.
      await Promise.all([branch('a', 40), branch('b', 1)]);
      live = false;
      await ctx.step.sleep('nap', '1h');
      return saved;
    });
    expect(value(await stage.run())).toEqual(['b:b', 'a:a']);
  });

  it('STEP-10: items are scopes of their own; results stand in their order, also after a crash in the middle', async () => {
    const did: number[] = [];
    const stage = new SmallStage((ctx) =>
      ctx.step.all(
        'items',
        [3, 1, 2],
        async (item, step, index) => {
          const doubled = await step.run('double', async () => {
            await macrotasks(item * 5);
            did.push(item);
            return item * 2;
          });
          return step.run('index', () => (doubled as number) + index / 10);
        },
        { concurrency: 2 },
      ),
    );
    stage.ledger.crashAt = { write: 9, when: 'before' };
    expect(value(await stage.run())).toEqual([6, 2.1, 4.2]);
    expect(stage.passes).toBe(2);
    expect(new Set(did)).toEqual(new Set([1, 2, 3]));
  });

  it('STEP-10: 5,000 items', async () => {
    const stage = new SmallStage((ctx) =>
      ctx.step.all(
        'items',
        Array.from({ length: 5_000 }, (_, n) => n),
        (item, step) => step.run('x', () => item),
        {
          concurrency: 50,
        },
      ),
    );
    expect((value(await stage.run()) as number[]).length).toBe(5_000);
  });
});

describe('waits', () => {
  it('FAULT B1: sleeps of any length', async () => {
    for (const ms of [0, 1, 2 ** 31 - 1, 2 ** 31, 400 * 86_400_000]) {
      const stage = new SmallStage((ctx) => ctx.step.sleep('nap', ms));
      await stage.run();
      expect(stage.ledger.now).toBe(ms);
    }
  });

  it('STEP-3: a sleep that is replayed keeps its instant', async () => {
    const stage = new SmallStage(async (ctx) => {
      await Promise.all([ctx.step.sleep('long', '10h'), ctx.step.sleep('short', '1h')]);
      return 'up';
    });
    expect(value(await stage.run())).toBe('up');
    expect([stage.ledger.now, stage.passes]).toEqual([36_000_000, 3]);
  });

  it('STEP-3: a sleep counts from when it is awaited, also while a step of the same body runs', async () => {
    const goOn = signal();
    const stage = new SmallStage(async (ctx) => {
      await Promise.all([ctx.step.sleep('nap', '1h'), ctx.step.run('long', () => goOn)]);
    });
    const passing = stage.pass();
    await macrotasks(40);
    stage.ledger.now = 1_800_000;
    goOn.fire();
    const passed = (await passing) as Extract<Passed, { kind: 'suspended' }>;
    stage.ledger.suspend(passed.suspension);
    stage.ledger.fireNext();
    expect(stage.ledger.now).toBe(3_600_000);
  });

  it('FAULT D5: a wait that is called and never awaited holds nothing up, and is not even written', async () => {
    const stage = new SmallStage(async (ctx) => {
      void ctx.step.sleep('x', '1h');
      await Promise.all([1, 2, 3].map((n) => ctx.step.run(`s${n}`, () => n)));
      return 'done';
    });
    expect(value(await stage.run())).toBe('done');
    expect([stage.ledger.now, stage.ledger.rows.has('x#1')]).toEqual([0, false]);
    expect(stage.lastEnd!.openWaits).toBe(false);
  });

  it('FAULT D7: approve or time out: whichever is first wins, in a race', async () => {
    const body: Body = async (ctx) =>
      Promise.race([
        ctx.step.waitForSignal('approve').then((by) => `approved by ${by}`),
        ctx.step.sleep('limit', '15s').then(() => 'timed out'),
      ]);
    const approved = new SmallStage(body);
    expect(value(await approved.run([{ key: 'approve', at: 4_000, payload: 'ann' }]))).toBe('approved by ann');
    const late = new SmallStage(body);
    expect(value(await late.run([{ key: 'approve', at: 16_000, payload: 'ann' }]))).toBe('timed out');
  });

  it('STEP-5: the loser of a race is retired with the next suspension, and may be awaited again all the same', async () => {
    const stage = new SmallStage(async (ctx) => {
      const long = ctx.step.sleep('long', '10h');
      await Promise.race([long, ctx.step.sleep('short', '1h')]);
      await ctx.step.sleep('pause', '1h');
      await long;
    });
    const pass = async (): Promise<void> => {
      const passed = (await stage.pass()) as Extract<Passed, { kind: 'suspended' }>;
      stage.ledger.suspend(passed.suspension);
    };
    await pass();
    stage.ledger.fireNext();
    await pass();
    expect(statuses(stage.ledger)).toMatchObject({ 'long#1': 'cancelled', 'pause#1': 'waiting' });
    stage.ledger.fireNext();
    await pass();
    expect(statuses(stage.ledger)).toMatchObject({ 'long#1': 'waiting' });
    stage.ledger.fireNext();
    expect(stage.ledger.now).toBe(36_000_000);
    expect((await stage.pass()).kind).toBe('returned');
  });

  it('STEP-5: a signal goes to the wait of this round of a loop, not to one that lost its race before', async () => {
    const stage = new SmallStage(async (ctx) => {
      for (let round = 1; ; round++) {
        const go = await Promise.race([ctx.step.waitForSignal('go'), ctx.step.sleep('tick', '1h')]);
        if (go !== undefined) return [round, go];
        if (round === 1) await ctx.step.sleep('between', '5h');
      }
    });
    expect(value(await stage.run([{ key: 'go', at: 6.5 * 3_600_000, payload: 'now' }]))).toEqual([2, 'now']);
  });

  it('STEP-5: all, allSettled and any wait for what they need', async () => {
    const stage = new SmallStage(async (ctx) => {
      const both = await Promise.all([ctx.step.waitForSignal('a'), ctx.step.waitForSignal('b')]);
      const settled = await Promise.allSettled([
        ctx.step.waitForSignal('never', { timeout: '1h' }),
        ctx.step.sleep('nap', '2h'),
      ]);
      const any = await Promise.any([ctx.step.waitForSignal('nope', { timeout: '1h' }), ctx.step.sleep('x', '5h')]);
      return [both, settled.map(({ status }) => status), any];
    });
    const passed = await stage.run([
      { key: 'a', at: 2, payload: 'A' },
      { key: 'b', at: 1, payload: 'B' },
    ]);
    expect(value(passed)).toEqual([['A', 'B'], ['rejected', 'fulfilled'], undefined]);
  });

  it('STEP-4: a timeout throws WAIT_TIMEOUT, or comes as a typed result', async () => {
    const stage = new SmallStage(async (ctx) => [
      await ctx.step.waitForSignal('x', { timeout: '1h' }).catch((error: WorkflowError) => error.code),
      await ctx.step.waitForSignal('y', { timeout: '1h', onTimeout: 'return' }),
      await ctx.step.waitForSignal('z', { timeout: '9h', onTimeout: 'return' }),
    ]);
    expect(value(await stage.run([{ key: 'z', at: 3 * 3_600_000, payload: 7 }]))).toEqual([
      'WAIT_TIMEOUT',
      { timedOut: true },
      { timedOut: false, value: 7 },
    ]);
  });

  it('STEP-4: waitFor polls until the answer is yes, each poll a resumption', async () => {
    let asked = 0;
    const stage = new SmallStage((ctx) =>
      ctx.step.waitFor('ready', () => (++asked < 4 ? null : { at: asked }), { every: '10 min' }),
    );
    expect(value(await stage.run())).toEqual({ at: 4 });
    expect([asked, stage.passes, stage.ledger.now]).toEqual([4, 4, 1_800_000]);
  });

  it('STEP-4: waitFor asks a last time at its limit, then times out', async () => {
    let asked = 0;
    const body: Body = (ctx) =>
      ctx.step.waitFor('ready', () => (++asked, false), { every: '10 min', timeout: '25 min', onTimeout: 'return' });
    const stage = new SmallStage(body);
    expect(value(await stage.run())).toEqual({ timedOut: true });
    expect([asked, stage.ledger.now]).toEqual([4, 1_500_000]);
  });

  it('FAULT K23: nothing is thrown through a try or a finally around a wait', async () => {
    const { did, step } = effects();
    const stage = new SmallStage(async (ctx) => {
      try {
        await ctx.step.sleep('nap', '1h');
        return 'slept';
      } catch {
        await ctx.step.run('undo', step('undo', 0));
        return 'caught';
      } finally {
        did.push('finally');
      }
    });
    expect(value(await stage.run())).toBe('slept');
    expect(did).toEqual(['finally']);
  });

  it('a body that goes on after it was dropped is told of, once, and gets no answer', async () => {
    const goOn = signal();
    const { did, step } = effects();
    const stage = new SmallStage(async (ctx) => {
      void goOn.then(async () => {
        await ctx.step.run('late', step('late', 0));
        did.push('answered');
      });
      await ctx.step.sleep('nap', '1h');
    });
    expect((await stage.pass()).kind).toBe('suspended');
    goOn.fire();
    await macrotasks();
    expect(did).toEqual([]);
    expect(stage.warnings).toHaveLength(1);
    expect(stage.warnings[0]).toContain('BODY_RAN_ON');
  });

  it('ctx.local keeps the stage from suspending while plain work goes on', async () => {
    const goOn = signal();
    const stage = new SmallStage((ctx) =>
      Promise.race([
        ctx.replay.local(() => goOn.then(() => 'worked')),
        ctx.step.sleep('nap', '1h').then(() => 'slept'),
      ]),
    );
    const passing = stage.pass();
    await macrotasks(40);
    goOn.fire();
    expect(value(await passing)).toBe('worked');
  });

  it('FAULT D11: a signal that comes while a long step runs reaches the body at once', async () => {
    const goOn = signal();
    const entered = signal();
    const stage = new SmallStage(async (ctx) =>
      Promise.race([
        ctx.step.waitForSignal('stop').then(() => 'stopped'),
        ctx.step.run('long', () => (entered.fire(), goOn)),
      ]),
    );
    const passing = stage.pass();
    await entered;
    await macrotasks(40);
    expect(statuses(stage.ledger)['stop#1']).toBe('waiting');
    stage.ledger.end('stop#1', '"now"');
    await stage.replay!.lookAgain();
    expect(value(await passing)).toBe('stopped');
    goOn.fire();
  });
});

describe('leases', () => {
  it('STEP-6: a replay that meets a body at work elsewhere suspends until that has ended', async () => {
    const { did, step } = effects();
    const stage = new SmallStage((ctx) => ctx.step.run('pay', step('pay', 'mine')));
    stage.passes = 1;
    const { ledger } = stage;
    await ledger.journal().write({ op: 'begin', key: 'pay#1', kind: 'run', leaseMs: 60_000, orders: [] });
    const journal = ledger.journal.bind(ledger);
    // The other process lives.
    ledger.journal = () => {
      const mine = journal();
      const row = ledger.rows.get('pay#1')!;
      if (row.status === 'running') row.leaseUntil = 60_000;
      return mine;
    };
    const passed = (await stage.pass()) as Extract<Passed, { kind: 'suspended' }>;
    expect(passed.suspension.waits).toMatchObject([{ key: '@lease', kind: 'lease', due: { inMs: 60_000 } }]);
    ledger.suspend(passed.suspension);
    ledger.end('pay#1', '"theirs"');
    expect(value(await stage.pass())).toBe('theirs');
    expect(did).toEqual([]);
  });

  it('CANCEL-2: a step that ends after the cancel is recorded failed with it; after a lost lease nothing is written', async () => {
    for (const aborted of ['cancelled', 'lease-lost'] as const) {
      const [entered, goOn] = [signal(), signal()];
      const stage = new SmallStage((ctx) => ctx.step.run('a', () => (entered.fire(), goOn)));
      const passing = stage.pass();
      await entered;
      stage.aborted = aborted;
      goOn.fire();
      const passed = await passing;
      expect(passed.kind).toBe(aborted === 'cancelled' ? 'threw' : 'unfenced');
      expect(statuses(stage.ledger)['a#1']).toBe(aborted === 'cancelled' ? 'failed' : 'running');
    }
  });

  it('CANCEL-2: nothing is begun once the run is cancelled', async () => {
    const { did, step } = effects();
    const stage = new SmallStage(async (ctx) => {
      await ctx.step
        .run('a', () => {
          stage.aborted = 'cancelled';
        })
        .catch(() => undefined);
      await ctx.step.run('b', step('b', 0));
    });
    expect((await stage.pass()).kind).toBe('unfenced');
    expect(did).toEqual([]);
  });
});

describe('children', () => {
  it('STEP-9: a child is started once, waited for, and answers from the ledger', async () => {
    const stage = new SmallStage((ctx) => ctx.step.runWorkflow('billing', 'Billing', { n: 1 }));
    const passed = (await stage.pass()) as Extract<Passed, { kind: 'suspended' }>;
    expect(passed.suspension.waits).toMatchObject([{ kind: 'child', childRunId: 'child of billing#1' }]);
    stage.ledger.suspend(passed.suspension);
    stage.ledger.end('billing#1', '{"invoice":7}');
    expect(value(await stage.pass())).toEqual({ invoice: 7 });
    expect(stage.children).toHaveLength(1);
  });

  it('STEP-9: one that is not waited for answers with its run', async () => {
    const stage = new SmallStage((ctx) => ctx.step.runWorkflow('billing', 'Billing', {}, { wait: false }));
    expect(value(await stage.run())).toEqual({ runId: 'child of billing#1' });
  });

  it('FAULT K5: one that cannot start is a failed child with its cause', async () => {
    const stage = new SmallStage((ctx) => ctx.step.runWorkflow('billing', 'Billing', {}));
    stage.startChild = () => Promise.reject(new NonRetryableError('no such workflow'));
    expect(await stage.run()).toMatchObject({ kind: 'threw', error: { message: 'no such workflow' } });
    expect(statuses(stage.ledger)).toEqual({ 'billing#1': 'failed' });
  });
});
