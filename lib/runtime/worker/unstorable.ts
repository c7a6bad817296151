import { cleanText, describeFailure, type FailureRecord } from '../../engine/codec/index.js';
import { isEscalation } from '../../engine/state/escalation-key.js';
import { formatMessage, InvalidOutputError } from '../../errors/index.js';
import { errorLine } from '../background/runtime-log.js';
import type { RecordEntry, RecordItem } from './record-item.js';

/** Of what the database said, so much goes into the stored message. */
const REASON_LENGTH = 300;

/**
 * The failure that is recorded in place of an outcome which the store refuses: terminal, and made of text that any store
 * takes, so that failing always succeeds (fault A1). Undefined where no attempt stands behind the outcome.
 */
export function unstorable(
  { attempt, entry }: RecordItem,
  error: unknown,
  dataError: boolean,
): RecordEntry | undefined {
  if (!attempt) return undefined;
  const { lease, attempt: number } = entry.record;
  const { job, served } = attempt;
  const reason = plainText(errorLine(error));
  const failure =
    dataError && entry.lane !== 'suspend' && entry.record.outcome.kind === 'completed'
      ? outputRefused(served.stage.key, reason)
      : recordFailed(served.stage.key, reason);
  const { code, message } = failure;
  const { key, stage, node, visit } = job.stageRun;
  const data = { attempt: number, code, message, willRetry: false };
  return {
    lane: 'joined',
    record: {
      lease,
      attempt: number,
      definitionKey: job.run.definitionKey,
      node,
      key,
      visit,
      outcome: { kind: 'failed', failure },
      events: isEscalation(job.stageRun)
        ? []
        : [{ type: 'stage:failed', stageRunId: lease.stageRunId, node: key, stage, data }],
    },
  };
}

function outputRefused(stage: string, reason: string): FailureRecord {
  const error = new InvalidOutputError({
    what: `Stage ${stage}`,
    path: '$',
    reason: `was refused by the database: ${reason}`,
  });
  return { ...describeFailure(error), stack: undefined };
}

function recordFailed(stage: string, reason: string): FailureRecord {
  const params = { stage, message: reason };
  const message = formatMessage('RECORD_FAILED', params);
  return { code: 'RECORD_FAILED', name: 'RecordFailed', message, params, retryable: false };
}

/** Printable ASCII only: what was refused may be quoted in the error. */
function plainText(text: string): string {
  return cleanText(text, REASON_LENGTH).replace(/[^\x20-\x7e]/g, '?');
}
