import { WorkflowError } from './workflow.error.js';

export interface RunNotFoundParams {
  runId: string;
}

/** No such run within the owner who asked; another owner's run reads the same. */
export class RunNotFoundError extends WorkflowError<RunNotFoundParams> {
  declare readonly code: 'RUN_NOT_FOUND';

  constructor(params: RunNotFoundParams) {
    super('RUN_NOT_FOUND', params);
  }
}

export interface RunEndedParams {
  runId: string;
  /** What came too late: 'signal "approve"'. */
  what: string;
}

/** The run had ended before what was sent to it; nothing was stored. */
export class RunEndedError extends WorkflowError<RunEndedParams> {
  declare readonly code: 'RUN_ENDED';

  constructor(params: RunEndedParams) {
    super('RUN_ENDED', params);
  }
}

export interface RunNotCancellableParams {
  runId: string;
  status: string;
}

/** The run has ended, so cancelling it would change nothing. */
export class RunNotCancellableError extends WorkflowError<RunNotCancellableParams> {
  declare readonly code: 'RUN_NOT_CANCELLABLE';

  constructor(params: RunNotCancellableParams) {
    super('RUN_NOT_CANCELLABLE', params);
  }
}

export interface RunNotRetryableParams {
  runId: string;
  status: string;
  /** A sentence, with what to do instead. */
  why: string;
}

/** The run cannot be retried by hand; `params.why` says why and what to do instead. */
export class RunNotRetryableError extends WorkflowError<RunNotRetryableParams> {
  declare readonly code: 'RUN_NOT_RETRYABLE';

  constructor(params: RunNotRetryableParams) {
    super('RUN_NOT_RETRYABLE', params);
  }
}

export interface RunNotRerunnableParams extends RunNotRetryableParams {
  node?: string;
}

/** The run cannot be rerun from that node: it has not ended, or has no such node. */
export class RunNotRerunnableError extends WorkflowError<RunNotRerunnableParams> {
  declare readonly code: 'RUN_NOT_RERUNNABLE';

  constructor(params: RunNotRerunnableParams) {
    super('RUN_NOT_RERUNNABLE', params);
  }
}

export interface RunNotMigratableParams extends RunNotRetryableParams {
  /** The version that was asked for. */
  version: number;
}

/** The run cannot be moved to that version of its definition; nothing was changed. */
export class RunNotMigratableError extends WorkflowError<RunNotMigratableParams> {
  declare readonly code: 'RUN_NOT_MIGRATABLE';

  constructor(params: RunNotMigratableParams) {
    super('RUN_NOT_MIGRATABLE', params);
  }
}

export interface UndefinedIdParams {
  /** What was undefined: 'runId', 'owner', … */
  what: string;
  /** The method that got it. */
  where?: string;
  /** What to pass. */
  hint?: string;
}

/** An id, owner or key was undefined; nothing was read or written. */
export class UndefinedIdError extends WorkflowError<UndefinedIdParams> {
  declare readonly code: 'UNDEFINED_ID';

  constructor(params: UndefinedIdParams) {
    super('UNDEFINED_ID', params);
  }
}

export interface IdempotencyConflictParams {
  key: string;
  workflow: string;
  /** The run that the key belongs to. */
  runId: string;
}

/** The key was used before with another input (`idempotency.strict`); no run was created. */
export class IdempotencyConflictError extends WorkflowError<IdempotencyConflictParams> {
  declare readonly code: 'IDEMPOTENCY_CONFLICT';

  constructor(params: IdempotencyConflictParams) {
    super('IDEMPOTENCY_CONFLICT', params);
  }
}
