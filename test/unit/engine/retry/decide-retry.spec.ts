import { fc } from '../../../support/properties.js';
import {
  DEFAULT_RETRY_POLICY,
  type RetryPolicy,
  compileRetryPolicy,
  computeBackoffDelayMs,
  decideRetry,
} from '../../../../lib/engine/retry/index.js';

const middle = (): number => 0.5;

function delays(input: RetryPolicy, attempts: readonly number[], random = middle): number[] {
  const policy = compileRetryPolicy(input, 'retry');
  return attempts.map((attempt) => computeBackoffDelayMs(policy, attempt, random));
}

describe('computeBackoffDelayMs', () => {
  it('RETRY-1: the delays of a list follow each other, and the last one repeats', () => {
    const after = [1, 2, 3, 4, 50].map((attempt) => computeBackoffDelayMs(DEFAULT_RETRY_POLICY, attempt, middle));
    expect(after).toEqual([30_000, 120_000, 600_000, 600_000, 600_000]);
    expect(delays({ backoff: '5s' }, [1, 2, 3])).toEqual([5_000, 5_000, 5_000]);
  });

  it('RETRY-1: growing delays grow by their factor up to their maximum', () => {
    expect(delays({ backoff: { base: '2s' } }, [1, 2, 3, 20, 5_000])).toEqual([
      2_000, 4_000, 8_000, 3_600_000, 3_600_000,
    ]);
    expect(delays({ backoff: { base: 100, factor: 3, max: 500 } }, [1, 2, 3])).toEqual([100, 300, 500]);
    expect(delays({ backoff: { base: 0 } }, [1, 5_000])).toEqual([0, 0]);
  });

  it('RETRY-1: jitter varies a delay by ten percent either way, or as told', () => {
    expect(delays({ backoff: '100s' }, [1], () => 0)).toEqual([90_000]);
    expect(delays({ backoff: '100s' }, [1], () => 1)).toEqual([110_000]);
    expect(delays({ backoff: '100s', jitter: 0 }, [1], () => 1)).toEqual([100_000]);
    expect(delays({ backoff: '100s', jitter: 1 }, [1], () => 0)).toEqual([0]);
  });

  it('FAULT B1: whatever the policy and the attempt, a delay is a whole number that an instant can be made from', () => {
    const policies = fc.record({
      maxAttempts: fc.integer({ min: 1, max: 1e9 }),
      backoff: fc.oneof(
        fc.array(fc.integer({ min: 0, max: 31_536_000_000_000 }), { minLength: 1, maxLength: 5 }),
        fc.record({
          base: fc.integer({ min: 0, max: 3_600_000 }),
          factor: fc.double({ min: 1, max: 100, noNaN: true }),
        }),
      ),
      jitter: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    fc.assert(
      fc.property(
        policies,
        fc.integer({ min: 0, max: 1e9 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (input, attempt, at) => {
          const delay = computeBackoffDelayMs(compileRetryPolicy(input, 'retry'), attempt, () => at);
          return Number.isSafeInteger(delay) && delay >= 0 && delay <= 31_536_000_000_000;
        },
      ),
    );
  });
});

describe('decideRetry', () => {
  const policy = DEFAULT_RETRY_POLICY;
  const failure = { retryable: true };
  const random = middle;

  it('RETRY-1: three attempts, and no fourth', () => {
    const decide = (attempt: number): object => decideRetry({ policy, attempt, failure, budgetFrom: 0, random });
    expect(decide(1)).toEqual({ retry: true, delayMs: 30_000 });
    expect(decide(2)).toEqual({ retry: true, delayMs: 120_000 });
    expect(decide(3)).toEqual({ retry: false });
    expect(decide(4)).toEqual({ retry: false });
  });

  it('RETRY-3: a final failure is not retried, attempts left or not', () => {
    const final = { retryable: false, retryAfterMs: 5 };
    expect(decideRetry({ policy, attempt: 1, failure: final, budgetFrom: 0, random })).toEqual({ retry: false });
  });

  it('RETRY-5: a manual retry begins a budget of its own, its delays from the first', () => {
    const decide = (attempt: number): object => decideRetry({ policy, attempt, failure, budgetFrom: 3, random });
    expect(decide(4)).toEqual({ retry: true, delayMs: 30_000 });
    expect(decide(5)).toEqual({ retry: true, delayMs: 120_000 });
    expect(decide(6)).toEqual({ retry: false });
  });

  it('RETRY-1: of the backoff and what the error asked for, the longer one holds', () => {
    const decide = (retryAfterMs: number): object =>
      decideRetry({ policy, attempt: 1, failure: { retryable: true, retryAfterMs }, budgetFrom: 0, random });
    expect(decide(5_000)).toEqual({ retry: true, delayMs: 30_000 });
    expect(decide(90_000)).toEqual({ retry: true, delayMs: 90_000 });
  });

  it('RETRY-1: a policy of one attempt never retries', () => {
    const once = compileRetryPolicy({ maxAttempts: 1 }, 'retry');
    expect(decideRetry({ policy: once, attempt: 1, failure, budgetFrom: 0, random })).toEqual({ retry: false });
  });
});
