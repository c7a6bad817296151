import type { OptionProblem } from './options.errors.js';
import { WorkflowError } from './workflow.error.js';

// A replayed body meets what a step threw as it was recorded: a `WorkflowError` with this code, these params and this
// message, but not an instance of the class. Handlers decide by `WorkflowError.is(error) && error.code === '…'`.

export interface StepMismatchParams {
  step: string;
  stage?: string;
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

export interface StepNestedParams {
  /** The step that was called. */
  step: string;
  /** The step in whose body it was called. */
  outer: string;
}

/** A `ctx.step` call inside the body of another step. */
export class StepNestedError extends WorkflowError<StepNestedParams> {
  declare readonly code: 'STEP_NESTED';

  constructor(params: StepNestedParams) {
    super('STEP_NESTED', params);
  }
}

export interface InvalidStepParams {
  /** The call, as a person finds it: 'ctx.step.sleep("cool-off")'. */
  what: string;
  problems: readonly OptionProblem[];
}

/** A durable call has a bad name or bad options; lists all problems at once. Nothing was recorded. */
export class InvalidStepError extends WorkflowError<InvalidStepParams> {
  declare readonly code: 'INVALID_STEP';

  constructor(params: InvalidStepParams, options?: { cause?: unknown }) {
    super('INVALID_STEP', params, options);
  }

  get problems(): readonly OptionProblem[] {
    return this.params.problems;
  }
}

export interface WaitTimeoutParams {
  what: string;
  /** As a person reads it: '7 d'. */
  timeout: string;
}

/**
 * A wait passed its timeout or `maxWait`. Replayed, or met by a later attempt, it is a `WorkflowError` of this code and no
 * instance of this class: ask `WorkflowError.is(error) && error.code === 'WAIT_TIMEOUT'`, or wait with
 * `onTimeout: 'return'`.
 */
export class WaitTimeoutError extends WorkflowError<WaitTimeoutParams> {
  declare readonly code: 'WAIT_TIMEOUT';

  constructor(params: WaitTimeoutParams) {
    super('WAIT_TIMEOUT', params);
  }
}

export interface ChildRunParams {
  runId: string;
  /** FAILED or CANCELLED. */
  status: string;
  /** The code that the child failed with; null when it was cancelled. */
  failureCode: string | null;
  /** Its failure's message, or the reason of its cancel. */
  failureMessage: string | null;
}

/**
 * A child run that was waited for did not complete. `code` is always CHILD_RUN_FAILED; `params.failureCode` is the
 * child's. The body always meets it as it was recorded, a `WorkflowError` of this code and no instance of this class: ask
 * `WorkflowError.is(error) && error.code === 'CHILD_RUN_FAILED'` and read `error.params`.
 */
export class ChildRunError extends WorkflowError<ChildRunParams> {
  declare readonly code: 'CHILD_RUN_FAILED';

  constructor(params: ChildRunParams) {
    super('CHILD_RUN_FAILED', params);
  }
}

export interface ChildNotStartedParams {
  workflow: string;
  message: string;
}

/** A child run could not be started for now, its start rate for example. The only limit that the engine retries. */
export class ChildNotStartedError extends WorkflowError<ChildNotStartedParams> {
  declare readonly code: 'CHILD_NOT_STARTED';

  /** Milliseconds after which another attempt has a chance. */
  declare readonly retryAfterMs?: number;

  constructor(
    params: ChildNotStartedParams,
    { retryAfterMs, ...options }: { cause?: unknown; retryAfterMs?: number } = {},
  ) {
    super('CHILD_NOT_STARTED', params, options);
    if (retryAfterMs !== undefined) Object.assign(this, { retryAfterMs });
  }
}

export interface NoCompletionCheckParams {
  stage: string;
}

/** `execute` returned `ctx.suspend(…)`, and the class has no `checkCompletion` to end it (WAIT-6). */
export class NoCompletionCheckError extends WorkflowError<NoCompletionCheckParams> {
  declare readonly code: 'NO_COMPLETION_CHECK';

  constructor(params: NoCompletionCheckParams) {
    super('NO_COMPLETION_CHECK', params);
  }
}
