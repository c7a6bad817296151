import { WorkflowError } from '../../errors/index.js';
import type { FailureRecord } from './failure-record.js';

/**
 * The error that a recorded failure stands for: name, message, frames, causes and pause as recorded, whatever build reads
 * it. Errors with a code of their own come back as `WorkflowError` (with code, params and retryable), so
 * `WorkflowError.is(e) && e.code === '…'` holds live and replayed; describing the error again gives the same record.
 */
export function reviveFailure(record: FailureRecord): Error {
  const error = createError(record);
  define(error, 'name', record.name);
  define(error, 'message', record.message);
  define(error, 'stack', [`${record.name}: ${record.message}`, record.stack].filter(Boolean).join('\n'));
  if (record.cause) define(error, 'cause', reviveFailure(record.cause));
  if (record.errors) define(error, 'errors', record.errors.map(reviveFailure));
  if (record.retryAfterMs !== undefined) define(error, 'retryAfterMs', record.retryAfterMs);
  return error;
}

function createError({ code, message, params, retryable }: FailureRecord): Error {
  // Foreign errors have no params; the package's own EXCEPTION (RetryAfterError) does.
  if (code === 'EXCEPTION' && params === undefined) return new Error(message);
  return new WorkflowError(code, params ?? {}, { retryable });
}

function define(error: Error, key: string, value: unknown): void {
  Object.defineProperty(error, key, { value, configurable: true, writable: true, enumerable: false });
}
