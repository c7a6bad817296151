import type { Lease } from '../../engine/ports/index.js';
import type { FailureRecord } from '../../engine/codec/failure-record.js';
import type { StageOutcome } from '../../engine/state/rows.js';
import type { OutcomeRow } from '../dialects/postgres/statements/store-outcomes.js';

/** The row that an attempt's end becomes. */
export function outcomeRow({ stageRunId, token, runId, jobId }: Lease, outcome: StageOutcome): OutcomeRow {
  const row: OutcomeRow = {
    sid: stageRunId,
    token,
    rid: runId,
    jid: jobId,
    status: 'PENDING',
    output: null,
    outcome: null,
    skip_reason: null,
    back: 0,
    deferral: 0,
    code: null,
    message: null,
    stack: null,
    cause: null,
    delay: null,
  };
  switch (outcome.kind) {
    case 'completed':
      return { ...row, status: 'COMPLETED', output: outcome.output, outcome: outcome.outcome ?? null };
    case 'skipped':
      return { ...row, status: 'SKIPPED', skip_reason: outcome.reason };
    case 'retry':
      return { ...row, ...failureColumns(outcome.failure), delay: outcome.delayMs };
    case 'failed':
      return { ...row, ...failureColumns(outcome.failure), status: 'FAILED' };
    case 'released':
      return { ...row, back: 1, deferral: outcome.reason === 'version' ? 1 : 0, delay: outcome.delayMs };
  }
}

export function failureColumns({ code, message, stack, cause }: FailureRecord) {
  return { code, message, stack: stack ?? null, cause: cause ? JSON.stringify(cause) : null };
}
