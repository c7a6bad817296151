export type { Backoff, BackoffInput, ExponentialBackoff } from './backoff.js';
export { computeBackoffDelayMs, decideRetry } from './decide-retry.js';
export type { DecideRetryParams, Random, RetryDecision } from './decide-retry.js';
export {
  DEFAULT_MAX_ATTEMPTS_CAP,
  DEFAULT_RETRY_POLICY,
  chooseRetryPolicy,
  compileRetryPolicy,
} from './retry-policy.js';
export type { CompiledRetryPolicy, RetryPolicy } from './retry-policy.js';
