import { InvalidStepError } from '../../../../lib/errors/index.js';
import { SmallStage, type Body } from './support/small-stage.js';

/** What a call of this body is refused with; it makes no row. */
async function refusal(body: Body): Promise<InvalidStepError> {
  const stage = new SmallStage(body);
  const passed = await stage.pass();
  expect(stage.ledger.read()).toEqual([]);
  if (passed.kind !== 'threw') throw new Error(`It was not refused, but ${passed.kind}.`);
  expect(passed.error).toMatchObject({ code: 'INVALID_STEP' });
  return passed.error as InvalidStepError;
}

/** Deliberately of no use to the types. */
const wrong = (value: unknown): never => value as never;

describe('calls that are refused', () => {
  it('FAULT A18: a subject that is undefined is refused: it would be taken for any subject', async () => {
    for (const subject of [undefined, null, {}, { type: 'order', id: undefined }, { type: '', id: '1' }]) {
      const error = await refusal((ctx) => ctx.step.waitForEvent('paid', { key: 'paid', subject: wrong(subject) }));
      expect(error.message).toContain('subject');
    }
    const stage = new SmallStage((ctx) => ctx.step.waitForEvent('paid', { key: 'paid' }));
    expect((await stage.pass()).kind).toBe('suspended');
  });

  it('FAULT A1: U+0000 in a name or a key is refused, not cleaned: two names would share a row', async () => {
    for (const text of ['a\0b', '', ' ', 'x'.repeat(501), undefined, 7]) {
      for (const body of [
        (ctx) => ctx.step.run(wrong(text), () => 1),
        (ctx) => ctx.step.sleep(wrong(text), '1h'),
        (ctx) => ctx.step.all(wrong(text), [1], () => 1),
        (ctx) => ctx.step.waitForEvent('paid', { key: wrong(text) }),
        ...(text === undefined
          ? []
          : ([(ctx) => ctx.step.waitForSignal('stop', { signal: wrong(text) })] satisfies Body[])),
      ] satisfies Body[]) {
        expect((await refusal(body)).message).toMatch(/name|key|signal/);
      }
    }
  });

  it('STEP-4: what is to happen at the end of the time is throw or return', async () => {
    const onTimeout = wrong('retrun');
    for (const body of [
      (ctx) => ctx.step.waitForEvent('a', { key: 'a', timeout: '1h', onTimeout }),
      (ctx) => ctx.step.waitForSignal('a', { timeout: '1h', onTimeout }),
      (ctx) => ctx.step.waitFor('a', () => 1, { every: '1 min', timeout: '1h', onTimeout }),
    ] satisfies Body[]) {
      expect((await refusal(body)).message).toContain("onTimeout: must be 'throw' or 'return'");
    }
  });

  it('STEP-1: a body is a function', async () => {
    for (const body of [
      (ctx) => ctx.step.run('a', wrong('x')),
      (ctx) => ctx.step.once('a', wrong(undefined)),
      (ctx) => ctx.step.transaction('a', wrong(undefined)),
      (ctx) => ctx.step.waitFor('a', wrong(undefined), { every: '1 min' }),
      (ctx) => ctx.step.all('a', [1], wrong(undefined)),
    ] satisfies Body[]) {
      expect((await refusal(body)).message).toContain('fn: must be a function');
    }
  });

  it('STEP-3: an instant says its zone', async () => {
    for (const date of [
      '2030-01-01T00:00:00',
      '2030-02-30T00:00:00Z',
      'tomorrow',
      new Date(NaN),
      new Date(8.64e15),
      5,
    ]) {
      expect((await refusal((ctx) => ctx.step.sleepUntil('a', wrong(date)))).message).toContain('date');
    }
  });
});
