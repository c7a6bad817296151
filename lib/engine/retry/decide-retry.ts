import type { FailureRecord } from '../codec/failure-record.js';
import { MAX_DURATION_MS } from '../time/index.js';
import { backoffMs } from './backoff.js';
import type { CompiledRetryPolicy } from './retry-policy.js';

/** A number from 0 to 1; passed in, so that the same numbers give the same decision. */
export type Random = () => number;

export interface DecideRetryParams {
  readonly policy: CompiledRetryPolicy;
  /** The number of the attempt that failed, counted over the whole life of the stage run, 1 being the first. */
  readonly attempt: number;
  readonly failure: Pick<FailureRecord, 'retryable' | 'retryAfterMs'>;
  /** How many attempts came before the present budget began: 0, or n when a manual retry began it with attempt n + 1. */
  readonly budgetFrom: number;
  readonly random: Random;
}

export type RetryDecision = { readonly retry: true; readonly delayMs: number } | { readonly retry: false };

const NO_RETRY: RetryDecision = Object.freeze({ retry: false });

/**
 * Whether a failed attempt is followed by another, and after how long: not when its failure is final or the budget is
 * used up, else after the policy's backoff or the pause that the error asked for, whichever is longer.
 */
export function decideRetry({ policy, attempt, failure, budgetFrom, random }: DecideRetryParams): RetryDecision {
  const used = attempt - budgetFrom;
  if (!failure.retryable || used >= policy.maxAttempts) return NO_RETRY;
  const delayMs = Math.max(computeBackoffDelayMs(policy, used, random), failure.retryAfterMs ?? 0);
  return { retry: true, delayMs };
}

/**
 * The delay in milliseconds before the attempt that follows the `attempt`-th failed one of a budget (1 being the first),
 * varied by the policy's jitter.
 *
 * @example computeBackoffDelayMs(DEFAULT_RETRY_POLICY, 2, () => 0.5) // 120000
 */
export function computeBackoffDelayMs(policy: CompiledRetryPolicy, attempt: number, random: Random): number {
  const varied = backoffMs(policy.backoff, attempt) * (1 + policy.jitter * (2 * random() - 1));
  return Math.min(Math.max(0, Math.round(varied)), MAX_DURATION_MS);
}
