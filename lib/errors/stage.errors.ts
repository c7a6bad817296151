import { WorkflowError } from './workflow.error.js';

/**
 * Why `ctx.abortSignal` fired. `suspended`: the stage waits, its body is dropped and run again later. `ended`: the body has
 * returned or thrown, and what it left running is no part of the attempt.
 */
export type StageAbortReason = 'cancelled' | 'lease-lost' | 'shutdown' | 'timeout' | 'suspended' | 'ended';

export interface StageAbortedParams {
  stage: string;
  reason: StageAbortReason;
  detail?: string;
}

/**
 * The `reason` of an aborted `ctx.abortSignal`. A body may let it pass: what follows (cancelled, handed back, timed out)
 * is decided by the engine, not by how the body ends.
 */
export class StageAbortedError extends WorkflowError<StageAbortedParams> {
  declare readonly code: 'STAGE_ABORTED';

  constructor(params: StageAbortedParams) {
    super('STAGE_ABORTED', params, { retryable: params.reason !== 'cancelled' });
  }

  get reason(): StageAbortReason {
    return this.params.reason;
  }
}

export interface StageTimeoutParams {
  stage: string;
  /** As a person reads it: '5 min'. */
  timeout: string;
}

/** One attempt ran longer than the stage's timeout; it is retried (RETRY-6). */
export class StageTimeoutError extends WorkflowError<StageTimeoutParams> {
  declare readonly code: 'STAGE_TIMEOUT';

  constructor(params: StageTimeoutParams) {
    super('STAGE_TIMEOUT', params);
  }
}

export interface ConditionFailedParams {
  node: string;
  message: string;
}

/** The `when` of a node threw, or answered neither true nor false. */
export class ConditionFailedError extends WorkflowError<ConditionFailedParams> {
  declare readonly code: 'CONDITION_FAILED';

  constructor(params: ConditionFailedParams, options?: { cause?: unknown }) {
    super('CONDITION_FAILED', params, options);
  }
}

/** An expression of a graph's node, or its mapping, gave nothing on the values of this run. */
export class ExpressionFailedError extends WorkflowError<ConditionFailedParams> {
  declare readonly code: 'EXPRESSION_FAILED';

  constructor(params: ConditionFailedParams, options?: { cause?: unknown }) {
    super('EXPRESSION_FAILED', params, options);
  }
}

export interface UnknownOutcomeParams {
  node: string;
  /** The id given to `@Stage`. */
  type: string;
  outcome: string;
  /** Those that there are, separated by commas. */
  outcomes: string;
  /** What was probably meant. */
  suggestion?: string | undefined;
}

/** A stage ended with an outcome that its type does not have, or that the graph has no edge for. */
export class UnknownOutcomeError extends WorkflowError<UnknownOutcomeParams> {
  declare readonly code: 'UNKNOWN_OUTCOME';

  constructor(params: UnknownOutcomeParams, options?: { cause?: unknown }) {
    super('UNKNOWN_OUTCOME', params, options);
  }
}
