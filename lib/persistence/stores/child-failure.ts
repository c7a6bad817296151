import { ChildRunError } from '../../errors/index.js';
import type { FailureRecord } from '../../engine/codec/failure-record.js';
import type { JsonText } from '../../engine/state/rows.js';

/** A child run that did not complete. */
export interface FailedChild {
  readonly id: string;
  readonly status: string;
  readonly failure_code: string | null;
  readonly failure_message: string | null;
  readonly cancel_reason: string | null;
}

/** The failure with which such a child's end reaches the body of its parent (STEP-9), as the ledger keeps it. */
export function childFailure(child: FailedChild): JsonText {
  const params = {
    runId: child.id,
    status: child.status,
    failureCode: child.failure_code,
    failureMessage: child.failure_message ?? child.cancel_reason,
  };
  const { code, message } = new ChildRunError(params);
  const record: FailureRecord = { code, name: 'ChildRunError', message, params, retryable: false };
  return JSON.stringify(record);
}
