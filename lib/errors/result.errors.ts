import { WorkflowError } from './workflow.error.js';

export interface RunFailedParams {
  runId: string;
  workflow?: string;
  /** The code that the run failed with. */
  failureCode: string;
  failureMessage: string;
  /** The node that failed, if it failed on one. */
  node?: string | null;
}

/** What `result` rejects with when the run failed. `code` is always RUN_FAILED; `failureCode` is the run's. */
export class RunFailedError extends WorkflowError<RunFailedParams> {
  declare readonly code: 'RUN_FAILED';

  constructor(params: RunFailedParams, options?: { cause?: unknown }) {
    super('RUN_FAILED', params, options);
  }

  get runId(): string {
    return this.params.runId;
  }

  get failureCode(): string {
    return this.params.failureCode;
  }

  get failureMessage(): string {
    return this.params.failureMessage;
  }

  get node(): string | undefined {
    return this.params.node ?? undefined;
  }
}

export interface RunCancelledParams {
  runId: string;
  reason?: string | null;
}

/** What `result` rejects with when the run was cancelled. */
export class RunCancelledError extends WorkflowError<RunCancelledParams> {
  declare readonly code: 'RUN_CANCELLED';

  constructor(params: RunCancelledParams) {
    super('RUN_CANCELLED', params);
  }
}

export interface ResultTimeoutParams {
  runId: string;
  /** As a person reads it: '30 s'. */
  timeout: string;
}

/** The caller's time to wait for a result is over; the run goes on. */
export class ResultTimeoutError extends WorkflowError<ResultTimeoutParams> {
  declare readonly code: 'RESULT_TIMEOUT';

  constructor(params: ResultTimeoutParams) {
    super('RESULT_TIMEOUT', params);
  }
}

export interface ShuttingDownParams {
  /** What was given up: "Waiting for run 7f…". */
  what: string;
}

/** A call was pending, or made, while the process shut down. */
export class ShuttingDownError extends WorkflowError<ShuttingDownParams> {
  declare readonly code: 'SHUTTING_DOWN';

  constructor(params: ShuttingDownParams) {
    super('SHUTTING_DOWN', params);
  }
}

/** What was asked for is left as it was: this process goes, and says nothing of whether another one can. */
export const isShuttingDown = (error: unknown): boolean => WorkflowError.is(error) && error.code === 'SHUTTING_DOWN';
