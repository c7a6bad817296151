export type { Backoff, BackoffInput, ExponentialBackoff } from './backoff.js';
export { DEFAULT_MAX_ATTEMPTS_CAP, chooseRetryPolicy } from './choose-retry-policy.js';
export type { RetryPolicySources } from './choose-retry-policy.js';
export { computeBackoffDelayMs, decideRetry } from './decide-retry.js';
export type { DecideRetryParams, Random, RetryDecision } from './decide-retry.js';
export { DEFAULT_RETRY_POLICY, compileRetryPolicy } from './retry-policy.js';
export type { CompiledRetryPolicy, RetryPolicy } from './retry-policy.js';
export { mayBeOfShutdown } from './shutdown-failure.js';
