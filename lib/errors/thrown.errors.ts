import { WorkflowError } from './workflow.error.js';

interface ThrownParams {
  message: string;
}

/**
 * For a stage to throw when trying again cannot help: the run fails at once, with code NON_RETRYABLE.
 *
 * @example throw new NonRetryableError('The account is closed', { cause })
 * @publicApi
 */
export class NonRetryableError extends WorkflowError<ThrownParams> {
  declare readonly code: 'NON_RETRYABLE';

  constructor(message: string, options?: { cause?: unknown }) {
    super('NON_RETRYABLE', { message }, { ...options, retryable: false });
  }
}

/**
 * For a stage to fail with a code of the host's own, never retried by itself. Without a code it is STAGE_FAILED.
 *
 * @example throw new StageFailedError('CARD_DECLINED', 'The card was declined')
 * @publicApi
 */
export class StageFailedError extends WorkflowError<ThrownParams> {
  constructor(message: string, options?: { cause?: unknown });
  constructor(code: string, message: string, options?: { cause?: unknown });
  constructor(first: string, second?: string | { cause?: unknown }, third?: { cause?: unknown }) {
    const named = typeof second === 'string';
    const options = named ? third : second;
    super(named ? first : 'STAGE_FAILED', { message: named ? second : first }, { ...options, retryable: false });
  }
}

/**
 * For a stage to throw when it knows when to come back (a 429, a maintenance window). The next attempt is at
 * `retryAfter` or after the policy's backoff, whichever is later; it counts as an attempt like any other failure, and
 * the last one fails the run with code EXCEPTION.
 *
 * @publicApi
 */
export class RetryAfterError extends WorkflowError<ThrownParams> {
  declare readonly code: 'EXCEPTION';

  constructor(
    message: string,
    /** Milliseconds, a duration text ('30s', 'PT5M') or an instant. A value that is none of them is ignored. */
    readonly retryAfter: number | string | Date,
    options?: { cause?: unknown },
  ) {
    super('EXCEPTION', { message }, { ...options, retryable: true });
  }
}
