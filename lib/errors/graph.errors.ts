import { WorkflowError } from './workflow.error.js';

export interface InvalidExpressionParams {
  /** The expression as it was written; its beginning, when it is long. */
  expression: string;
  /** What is wrong, without a full stop. */
  message: string;
  /** Where in the text: '7', or '2:7' for the seventh character of its second line. */
  place?: string;
}

/** An expression of a graph cannot be used. */
export class InvalidExpressionError extends WorkflowError<InvalidExpressionParams> {
  declare readonly code: 'INVALID_EXPRESSION';

  constructor(params: InvalidExpressionParams, options?: { cause?: unknown }) {
    super('INVALID_EXPRESSION', params, options);
  }
}
