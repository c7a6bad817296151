import type { LIMIT_CODES } from './codes/limit.codes.js';
import { WorkflowError } from './workflow.error.js';

export type LimitCode = keyof typeof LIMIT_CODES;

export interface LimitExceededParams {
  code: LimitCode;
  /** The option that holds the limit: 'limits.maxStageRuns'. */
  limit: string;
  /** What the limit is set to. */
  value: number;
  /** What was asked for. */
  actual: number;
  /** Who asked: a run, node or definition. */
  where: string;
}

/** A limit was passed; the message names the limit and its value. Never retried by itself. */
export class LimitExceededError extends WorkflowError<Omit<LimitExceededParams, 'code'>> {
  declare readonly code: LimitCode;

  constructor({ code, ...params }: LimitExceededParams) {
    super(code, params);
  }

  get limit(): string {
    return this.params.limit;
  }

  get value(): number {
    return this.params.value;
  }
}
