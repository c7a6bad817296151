import { WorkflowError } from './workflow.error.js';

/** Why `ctx.abortSignal` fired. */
export type StageAbortReason = 'cancelled' | 'lease-lost' | 'shutdown' | 'timeout' | 'suspended';

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

export interface StepMismatchParams {
  step: string;
  stage: string;
  /** The kind that the ledger has. */
  recorded: string;
  /** The kind that the body asks for now. */
  asked: string;
}

/** A recorded step's name was used for another kind of step on replay (STEP-11). */
export class StepMismatchError extends WorkflowError<StepMismatchParams> {
  declare readonly code: 'STEP_MISMATCH';

  constructor(params: StepMismatchParams) {
    super('STEP_MISMATCH', params);
  }
}

export interface WaitTimeoutParams {
  what: string;
  /** As a person reads it: '7 d'. */
  timeout: string;
}

/** A wait passed its timeout or `maxWait`. */
export class WaitTimeoutError extends WorkflowError<WaitTimeoutParams> {
  declare readonly code: 'WAIT_TIMEOUT';

  constructor(params: WaitTimeoutParams) {
    super('WAIT_TIMEOUT', params);
  }
}
