import { type CompiledRetryPolicy, DEFAULT_RETRY_POLICY } from './retry-policy.js';

/** The most attempts that any policy gets, unless the module says otherwise (`retry.maxAttemptsCap`). */
export const DEFAULT_MAX_ATTEMPTS_CAP = 10;

export interface RetryPolicySources {
  /** Of the node in its definition. */
  readonly node?: CompiledRetryPolicy;
  /** Of the definition. */
  readonly settings?: CompiledRetryPolicy;
  /** Of the stage's type. */
  readonly stage?: CompiledRetryPolicy;
  /** Of the module. @default DEFAULT_RETRY_POLICY */
  readonly moduleDefault?: CompiledRetryPolicy;
  /** `retry.maxAttemptsCap`. @default 10 */
  readonly cap?: number;
}

/** The policy that holds: the most specific one whole, never mixed with others, its attempts capped (RETRY-1). */
export function chooseRetryPolicy(sources: RetryPolicySources): CompiledRetryPolicy {
  const { node, settings, stage, moduleDefault = DEFAULT_RETRY_POLICY, cap = DEFAULT_MAX_ATTEMPTS_CAP } = sources;
  const chosen = node ?? settings ?? stage ?? moduleDefault;
  return chosen.maxAttempts <= cap ? chosen : Object.freeze({ ...chosen, maxAttempts: cap });
}
