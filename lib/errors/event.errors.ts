import type { SchemaIssue } from './payload.errors.js';
import { WorkflowError } from './workflow.error.js';

export interface InvalidWhereParams {
  /** The condition as it was written; its beginning, when it is long. */
  where: string;
  /** What is wrong, without a full stop. */
  message: string;
  /** Where in the text: '7', or '2:7' for the seventh character of its second line. */
  place?: string;
}

/** A `where` cannot be used; thrown where it is awaited, before anything waits. */
export class InvalidWhereError extends WorkflowError<InvalidWhereParams> {
  declare readonly code: 'INVALID_WHERE';

  constructor(params: InvalidWhereParams, options?: { cause?: unknown }) {
    super('INVALID_WHERE', params, options);
  }
}

export interface InvalidEventParams {
  /** Which: 'Event "payment.received"', 'Signal "approve"'. */
  what: string;
  issues: readonly SchemaIssue[];
}

/** An event or a signal was refused; nothing was stored. */
export class InvalidEventError extends WorkflowError<InvalidEventParams> {
  declare readonly code: 'INVALID_EVENT';

  constructor(params: InvalidEventParams, options?: { cause?: unknown }) {
    super('INVALID_EVENT', params, options);
  }

  get issues(): readonly SchemaIssue[] {
    return this.params.issues;
  }
}
