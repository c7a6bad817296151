import type { FailureRecord } from '../../engine/codec/failure-record.js';
import type { LostOutcome, StageOutcome } from '../../engine/state/rows.js';
import { putBack } from './jobs.js';
import type { JobRecord, StageRunRecord } from './records.js';
import type { MemorySession } from './session.js';

const HANDED_BACK = { status: 'PENDING', claimToken: null, workerId: null } as const;

/**
 * Stores how an attempt ended on its stage run, keeps its failure (FAIL-2), and puts the job of one that goes on back in
 * the queue. The job of one that is over is left to what follows from it.
 */
export function endAttempt(
  session: MemorySession,
  stageRun: StageRunRecord,
  job: JobRecord | null,
  outcome: StageOutcome | LostOutcome,
): void {
  const { db, now } = session;
  switch (outcome.kind) {
    case 'completed':
      return db.stageRuns.patch(stageRun, {
        status: 'COMPLETED',
        output: outcome.output,
        outcome: outcome.outcome ?? null,
        finishedAt: now,
      });
    case 'skipped':
      return db.stageRuns.patch(stageRun, {
        status: 'SKIPPED',
        skipReason: outcome.reason,
        finishedAt: now,
      });
    case 'failed':
      keepFailure(session, stageRun, outcome.failure);
      return db.stageRuns.patch(stageRun, { status: 'FAILED', ...errorOf(outcome.failure), finishedAt: now });
    case 'retry':
      keepFailure(session, stageRun, outcome.failure);
      db.stageRuns.patch(stageRun, { ...HANDED_BACK, ...errorOf(outcome.failure) });
      break;
    case 'lost':
      keepFailure(session, stageRun, outcome.failure);
      db.stageRuns.patch(stageRun, {
        ...HANDED_BACK,
        ...errorOf(outcome.failure),
        // Losses have a budget of their own: the number is given out again (LEASE-3).
        attempt: stageRun.attempt - 1,
        losses: stageRun.losses + 1,
      });
      break;
    case 'released':
      db.stageRuns.patch(stageRun, {
        ...HANDED_BACK,
        attempt: stageRun.attempt - 1,
        deferrals: stageRun.deferrals + (outcome.reason === 'version' ? 1 : 0),
      });
      break;
  }
  if (job !== null) putBack(session, job, outcome.delayMs, stageRun.attempt);
}

const errorOf = ({ code, message }: FailureRecord): Pick<StageRunRecord, 'errorCode' | 'errorMessage'> => ({
  errorCode: code,
  errorMessage: message,
});

function keepFailure({ db, now, nextId }: MemorySession, stageRun: StageRunRecord, failure: FailureRecord): void {
  db.attempts.insert({
    id: nextId(),
    runId: stageRun.runId,
    stageRunId: stageRun.id,
    attempt: stageRun.attempt,
    workerId: stageRun.workerId,
    startedAt: stageRun.startedAt,
    endedAt: now,
    code: failure.code,
    message: failure.message,
    stack: failure.stack ?? null,
    cause: failure.cause === undefined ? null : JSON.stringify(failure.cause),
  });
}
