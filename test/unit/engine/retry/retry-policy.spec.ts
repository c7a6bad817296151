import {
  type CompiledRetryPolicy,
  DEFAULT_RETRY_POLICY,
  type RetryPolicy,
  chooseRetryPolicy,
  compileRetryPolicy,
} from '../../../../lib/engine/retry/index.js';
import { InvalidOptionsError } from '../../../../lib/errors/index.js';

function problems(input: unknown): string[] {
  try {
    compileRetryPolicy(input as RetryPolicy, 'Stage Pay');
  } catch (error) {
    if (!(error instanceof InvalidOptionsError)) throw error;
    expect(error.message).toContain('Stage Pay');
    return error.problems.map(({ path, message }) => `${path} ${message}`);
  }
  return [];
}

function attempts(maxAttempts: number): CompiledRetryPolicy {
  return compileRetryPolicy({ maxAttempts }, 'retry');
}

describe('compileRetryPolicy', () => {
  it('FAULT F12: nothing given is three attempts after 30 s, 2 min and 10 min, ± 10 %', () => {
    expect(compileRetryPolicy({}, 'retry')).toEqual(DEFAULT_RETRY_POLICY);
    expect(DEFAULT_RETRY_POLICY).toEqual({
      maxAttempts: 3,
      backoff: { kind: 'list', delaysMs: [30_000, 120_000, 600_000] },
      jitter: 0.1,
    });
  });

  it('RETRY-1: one delay, a list, and growing delays are compiled to plain frozen data', () => {
    const backoff = (input: RetryPolicy['backoff']): unknown => {
      const policy = compileRetryPolicy({ backoff: input }, 'retry');
      expect(Object.isFrozen(policy) && Object.isFrozen(policy.backoff)).toBe(true);
      expect(JSON.parse(JSON.stringify(policy))).toEqual(policy);
      return policy.backoff;
    };
    expect(backoff('1 min')).toEqual({ kind: 'list', delaysMs: [60_000] });
    expect(backoff(0)).toEqual({ kind: 'list', delaysMs: [0] });
    expect(backoff(['10s', 60_000, 'PT5M'])).toEqual({ kind: 'list', delaysMs: [10_000, 60_000, 300_000] });
    expect(backoff({ base: '2s' })).toEqual({ kind: 'exponential', baseMs: 2_000, factor: 2, maxMs: 3_600_000 });
    expect(backoff({ base: '2 h' })).toEqual({ kind: 'exponential', baseMs: 7_200_000, factor: 2, maxMs: 7_200_000 });
    expect(backoff({ base: 10, factor: 3, max: '1s' })).toEqual({
      kind: 'exponential',
      baseMs: 10,
      factor: 3,
      maxMs: 1_000,
    });
  });

  it.each([
    [{ maxAttempts: 0 }, /^maxAttempts must be a whole number from 1/],
    [{ maxAttempts: -1 }, /^maxAttempts/],
    [{ maxAttempts: 1.5 }, /^maxAttempts/],
    [{ maxAttempts: NaN }, /^maxAttempts/],
    [{ maxAttempts: Infinity }, /^maxAttempts/],
    [{ maxAttempts: '5' }, /^maxAttempts/],
    [{ maxAttempts: null }, /^maxAttempts/],
    [{ jitter: -0.1 }, /^jitter must be a number from 0 to 1/],
    [{ jitter: 1.1 }, /^jitter/],
    [{ jitter: NaN }, /^jitter/],
    [{ jitter: true }, /^jitter/],
    [{ backoff: [] }, /^backoff must have 1 to 100 delays/],
    [{ backoff: Array.from({ length: 101 }, () => 1) }, /^backoff must have 1 to 100 delays/],
    [{ backoff: '5 parsecs' }, /^backoff backoff is not a duration/],
    [{ backoff: null }, /^backoff backoff is not a duration/],
    [{ backoff: ['1s', -1] }, /^backoff\[1\] .*negative/],
    [{ backoff: {} }, /^backoff.base .*not a duration/],
    [{ backoff: { base: '1s', factor: 0.5 } }, /^backoff.factor must be a number from 1 to 100/],
    [{ backoff: { base: '1s', factor: NaN } }, /^backoff.factor/],
    [{ backoff: { base: '1s', factor: '2' } }, /^backoff.factor/],
    [{ backoff: { base: '1 min', max: '1s' } }, /^backoff.max must not be shorter/],
    [{ backoff: { base: '1s', max: 'never' } }, /^backoff.max .*not a duration/],
    [{ backoff: { base: '1s', jitter: 1 } }, /^backoff.jitter is unknown/],
    [{ attempts: 3 }, /^attempts is unknown; there are: maxAttempts, backoff, jitter/],
    [null, /^retry must be an object/],
    [[], /^retry must be an object/],
    [3, /^retry must be an object/],
  ])('FAULT C17: %j is refused', (input, problem) => {
    expect(problems(input)).toEqual([expect.stringMatching(problem)]);
  });

  it('MOD-1: all problems are told at once', () => {
    expect(problems({ maxAttempts: 0, jitter: 2, backoff: { base: 'x', factor: 0, max: 'y' }, tries: 1 })).toHaveLength(
      6,
    );
  });
});

describe('chooseRetryPolicy', () => {
  it('RETRY-1: node, then definition, then stage, then module: the most specific one holds whole', () => {
    const [node, settings, stage, moduleDefault] = [attempts(1), attempts(2), attempts(4), attempts(5)];
    expect(chooseRetryPolicy({ node, settings, stage, moduleDefault })).toBe(node);
    expect(chooseRetryPolicy({ settings, stage, moduleDefault })).toBe(settings);
    expect(chooseRetryPolicy({ stage, moduleDefault })).toBe(stage);
    expect(chooseRetryPolicy({ moduleDefault })).toBe(moduleDefault);
    expect(chooseRetryPolicy({})).toBe(DEFAULT_RETRY_POLICY);
    const slow = compileRetryPolicy({ backoff: '1 h' }, 'retry');
    expect(chooseRetryPolicy({ node: slow, settings, stage, moduleDefault }).maxAttempts).toBe(3);
  });

  it('RETRY-1: attempts are capped, at 10 unless the module says otherwise', () => {
    expect(chooseRetryPolicy({ node: attempts(50) })).toEqual({ ...attempts(50), maxAttempts: 10 });
    expect(chooseRetryPolicy({ node: attempts(50), moduleDefault: attempts(1), cap: 20 }).maxAttempts).toBe(20);
    expect(chooseRetryPolicy({ moduleDefault: attempts(5), cap: 2 }).maxAttempts).toBe(2);
  });
});
