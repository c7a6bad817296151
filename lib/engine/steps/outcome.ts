import { decodeJson, reviveFailure, type FailureRecord } from '../codec/index.js';
import type { LedgerRow } from '../ports/step-store.js';

/**
 * What a body is given of a recorded outcome: the value as it was stored, live and replayed alike.
 *
 * @throws the recorded error, the same each time: name, message, code and frames as recorded
 */
export function stepOutcome(row: LedgerRow): unknown {
  if (row.status === 'failed') throw reviveFailure(JSON.parse(row.failure!) as FailureRecord);
  return row.result === null ? null : decodeJson(row.result, `The result of step ${row.key}`);
}
