import { isTerminalRun, isTerminalStageRun } from '../../engine/state/statuses.js';
import type { NewStageRun, ReopenedStageRun, RunChange, Transition } from '../../engine/state/rows.js';
import type { FinishedRun } from '../../engine/ports/work-store.js';
import { askToCancelChildren } from './children.js';
import { cancelRounds } from './approvals.js';
import { moveJob, queueJob } from './jobs.js';
import { nodeVisitKey } from './memory-database.js';
import { tell } from './outbox-writes.js';
import type { JobRecord, RunRecord } from './records.js';
import { beginGeneration, migrate } from './reruns.js';
import type { MemorySession } from './session.js';
import { cancelWait } from './waits.js';

export interface TransitionPlace {
  /** The job of the attempt whose end this follows: moved to the one successor, or removed. */
  readonly job: JobRecord | null;
  /** New jobs wait for the start of the run. */
  readonly delayed?: boolean;
}

/** Writes what follows from an event. Says what became of the run, if it ended. */
export function applyTransition(
  session: MemorySession,
  run: RunRecord,
  transition: Transition,
  place: TransitionPlace,
): FinishedRun | null {
  if (transition.rerun !== undefined) beginGeneration(session, run, transition.rerun.kept);
  if (transition.migrate !== undefined) migrate(session, run, transition.migrate);
  if (transition.run !== null) changeRun(session, run, transition.run);
  for (const visit of transition.visits) setVisit(session, run, visit);
  for (const stageRun of transition.stageRuns) insertStageRun(session, run, stageRun);
  for (const reopened of transition.reopened) reopen(session, run, reopened);
  for (const requeued of transition.requeued) requeue(session, run, requeued);
  for (const id of transition.cancelled ?? []) leave(session, run, id, transition.leftBy?.[id] ?? null);
  if (transition.cancelOpen) cancelOpen(session, run);
  else queueNext(session, run, transition.stageRuns, place);
  for (const { stageRunId, job } of transition.cancelJobs) {
    queueJob(session, { kind: 'cancel', run, stageRunId, job });
  }
  tell(session, run.id, transition.events);
  if (transition.run === null || !isTerminalRun(run.status)) return null;
  return { runId: run.id, status: run.status, awaited: run.awaited, ...(run.parentWaits && { child: true }) };
}

function changeRun({ db, now }: MemorySession, run: RunRecord, change: RunChange): void {
  switch (change.to) {
    case 'COMPLETED':
      return db.runs.patch(run, { ...NO_END, status: 'COMPLETED', output: change.output, finishedAt: now });
    case 'FAILED': {
      const { code, message, params, node } = change.failure;
      return db.runs.patch(run, {
        status: 'FAILED',
        failureCode: code,
        failureMessage: message,
        failureParams: params === null ? null : JSON.stringify(params),
        failedNode: node,
        finishedAt: now,
      });
    }
    case 'CANCELLED':
      return db.runs.patch(run, {
        status: 'CANCELLED',
        cancelReason: change.reason,
        terminated: change.terminated,
        finishedAt: now,
      });
    case 'RUNNING':
      return db.runs.patch(run, {
        status: 'RUNNING',
        startedAt: run.startedAt ?? now,
        output: null,
        ...NO_END,
        finishedAt: null,
        // Nobody's orphan, and its parent has not been told its end.
        parentTold: false,
        cancelAsked: false,
      });
  }
}

/** A run that goes on, or has come to another end, tells nothing of the earlier one. */
const NO_END = {
  failureCode: null,
  failureMessage: null,
  failureParams: null,
  failedNode: null,
  cancelReason: null,
  terminated: false,
} as const satisfies Partial<RunRecord>;

function setVisit({ db }: MemorySession, run: RunRecord, { node, visit, open }: Transition['visits'][number]): void {
  const row = { runId: run.id, generation: run.generation, node, visit, open };
  const known = db.nodeVisits.get(nodeVisitKey(row));
  if (known === undefined) db.nodeVisits.insert(row);
  else db.nodeVisits.patch(known, { open });
}

function insertStageRun({ db, now }: MemorySession, run: RunRecord, row: NewStageRun): void {
  const { id, node, position, key, stage, visit, ordinal, status, skipReason, failure } = row;
  const { output = null, outcome = null } = row;
  db.stageRuns.insert({
    id,
    runId: run.id,
    generation: run.generation,
    node,
    position,
    key,
    stage,
    visit,
    ordinal,
    status,
    skipReason,
    createdAt: now,
    attempt: 0,
    budgetFrom: 0,
    losses: 0,
    deferrals: 0,
    requeues: 0,
    claims: 0,
    resumed: false,
    resumes: 0,
    queue: null,
    capMs: null,
    progress: null,
    claimToken: null,
    workerId: null,
    output,
    outcome,
    errorCode: failure?.code ?? null,
    errorMessage: failure?.message ?? null,
    startedAt: null,
    finishedAt: isTerminalStageRun(status) ? now : null,
  });
}

/** FAILED or CANCELLED → PENDING with a fresh budget of attempts and losses (RETRY-5). */
function reopen(session: MemorySession, run: RunRecord, { id, job }: ReopenedStageRun): void {
  const stageRun = session.db.stageRuns.get(id);
  if (stageRun === undefined || stageRun.runId !== run.id) return;
  session.db.stageRuns.patch(stageRun, {
    status: 'PENDING',
    budgetFrom: stageRun.attempt,
    losses: 0,
    requeues: 0,
    resumed: false,
    claimToken: null,
    workerId: null,
    finishedAt: null,
  });
  queueJob(session, { kind: 'execute', run, stageRunId: id, job });
}

/** An open stage run whose job was lost gets one again (STUCK-1). */
function requeue(session: MemorySession, run: RunRecord, { id, job }: ReopenedStageRun): void {
  const stageRun = session.db.stageRuns.get(id);
  if (stageRun === undefined || stageRun.runId !== run.id || isTerminalStageRun(stageRun.status)) return;
  const wasSuspended = stageRun.status === 'SUSPENDED';
  session.db.stageRuns.patch(stageRun, {
    status: 'PENDING',
    requeues: stageRun.requeues + 1,
    ...(wasSuspended && { resumed: true, resumes: stageRun.resumes + 1 }),
    claimToken: null,
    workerId: null,
  });
  queueJob(session, { kind: 'execute', run, stageRunId: id, job });
}

/**
 * Ends every stage run still open, and its waits; children that were waited for are to be cancelled. A cancel hook that
 * waits from before still has to be called.
 */
function cancelOpen(session: MemorySession, run: RunRecord): void {
  const { db, now } = session;
  for (const wait of db.waitsOf.of(run.id)) cancelWait(session, wait);
  cancelRounds(session, run.id);
  askToCancelChildren(session, run);
  for (const stageRun of db.stageRunsOf.of(run.id)) {
    if (isTerminalStageRun(stageRun.status)) continue;
    db.stageRuns.patch(stageRun, { status: 'CANCELLED', finishedAt: now });
  }
  for (const job of db.jobsOf.of(run.id)) {
    if (job.kind === 'execute') db.jobs.remove(job);
  }
}

/** Cancels one stage run, its job, its waits and the children it waits for; its run goes on. */
function leave(session: MemorySession, run: RunRecord, id: string, outcome: string | null): void {
  const { db, now } = session;
  const stageRun = db.stageRuns.get(id);
  if (stageRun === undefined || stageRun.runId !== run.id || isTerminalStageRun(stageRun.status)) return;
  for (const wait of db.waitsOf.of(run.id)) if (wait.stageRunId === id) cancelWait(session, wait);
  cancelRounds(session, run.id, id);
  askToCancelChildren(session, run, id);
  db.stageRuns.patch(stageRun, { status: 'CANCELLED', outcome, finishedAt: now });
  for (const job of db.jobsOf.of(run.id)) {
    if (job.kind === 'execute' && job.stageRunId === id) db.jobs.remove(job);
  }
}

function queueNext(
  session: MemorySession,
  run: RunRecord,
  stageRuns: readonly NewStageRun[],
  { job: done, delayed }: TransitionPlace,
): void {
  const queued = stageRuns.flatMap(({ id, job }) => (job === null ? [] : [{ id, job }]));
  const [only] = queued;
  if (done !== null && queued.length === 1 && only !== undefined) return moveJob(session, done, only.id, only.job);
  if (done !== null) session.db.jobs.remove(done);
  for (const { id, job } of queued) queueJob(session, { kind: 'execute', run, stageRunId: id, job, delayed });
}
