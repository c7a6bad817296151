import { InvalidOptionsError, type OptionProblem } from '../../errors/index.js';
import { type Backoff, type BackoffInput, compileBackoff } from './backoff.js';

/** How a failed stage is tried again. What is left out is as in `DEFAULT_RETRY_POLICY`. */
export interface RetryPolicy {
  /** Attempts in all, the first one included; 1 means no retry. @default 3 */
  maxAttempts?: number;
  /** One delay, a list of delays of which the last one repeats, or a growing one. @default ['30s', '2 min', '10 min'] */
  backoff?: BackoffInput;
  /** The part by which a delay varies at random either way, 0 to 1: what failed at once comes back spread. @default 0.1 */
  jitter?: number;
}

/** A checked policy as plain frozen data. */
export interface CompiledRetryPolicy {
  readonly maxAttempts: number;
  readonly backoff: Backoff;
  readonly jitter: number;
}

/** RETRY-1: 3 attempts, after 30 s, 2 min, 10 min (the last repeats), ± 10 %. */
export const DEFAULT_RETRY_POLICY: CompiledRetryPolicy = Object.freeze({
  maxAttempts: 3,
  backoff: Object.freeze({ kind: 'list', delaysMs: Object.freeze([30_000, 120_000, 600_000]) } as const),
  jitter: 0.1,
});

const FIELDS = ['maxAttempts', 'backoff', 'jitter'];

/**
 * Checks a policy and turns it into plain data.
 *
 * @param what names the policy in the error: an option's path, or the stage it stands on
 * @throws InvalidOptionsError with every problem at once
 * @example compileRetryPolicy({ backoff: '1 min' }, 'retry').backoff // { kind: 'list', delaysMs: [60000] }
 */
export function compileRetryPolicy(input: RetryPolicy, what: string): CompiledRetryPolicy {
  const problems: OptionProblem[] = [];
  const policy = compile(input, problems);
  if (problems.length === 0) return policy;
  throw new InvalidOptionsError({ where: what, problems });
}

function compile(input: RetryPolicy, problems: OptionProblem[]): CompiledRetryPolicy {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    problems.push({ path: 'retry', message: `must be an object with ${FIELDS.join(', ')}.` });
    return DEFAULT_RETRY_POLICY;
  }
  for (const field of Object.keys(input)) {
    if (!FIELDS.includes(field))
      problems.push({ path: field, message: `is unknown; there are: ${FIELDS.join(', ')}.` });
  }
  const { maxAttempts = DEFAULT_RETRY_POLICY.maxAttempts, backoff, jitter = DEFAULT_RETRY_POLICY.jitter } = input;
  if (!Number.isSafeInteger(maxAttempts) || maxAttempts < 1) {
    problems.push({ path: 'maxAttempts', message: 'must be a whole number from 1 on; 1 means no retry.' });
  }
  if (typeof jitter !== 'number' || !(jitter >= 0 && jitter <= 1)) {
    problems.push({ path: 'jitter', message: 'must be a number from 0 to 1; 0.1 means ± 10 %.' });
  }
  const compiled = backoff === undefined ? undefined : compileBackoff(backoff, problems);
  return Object.freeze({ maxAttempts, backoff: compiled ?? DEFAULT_RETRY_POLICY.backoff, jitter });
}
