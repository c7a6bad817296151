import type { RunDetails, RunFilter, RunHistory, RunRow } from '../../engine/ports/run-store.js';
import type { OwnerScope } from '../../engine/ports/scope.js';
import { escalationLevel, isEscalation } from '../../engine/state/escalation-key.js';
import { isTerminalRun, isTerminalStageRun, type RunStatus } from '../../engine/state/statuses.js';
import type { RunRecord, StageRunRecord } from './records.js';
import type { MemorySession } from './session.js';
import type { StepRecord } from './step-records.js';
import { annotationRow, attemptRow, logLineRow, runDetails, runRow, stageRunRow, stepHistoryRow } from './views.js';

/** The run, if this scope may see it (OWNER-5). */
export function findRun({ db }: MemorySession, runId: string, scope: OwnerScope): RunRecord | undefined {
  const run = db.runs.get(runId);
  return run !== undefined && isVisible(run, scope) ? run : undefined;
}

const isVisible = (run: RunRecord, scope: OwnerScope): boolean => 'all' in scope || run.ownerId === scope.owner;

export function findRunRow(session: MemorySession, runId: string, scope: OwnerScope): RunRow | undefined {
  const run = findRun(session, runId, scope);
  return run && runRow(run);
}

export function getRun(session: MemorySession, runId: string, scope: OwnerScope): RunDetails | undefined {
  const run = findRun(session, runId, scope);
  return run && runDetails(run, isWaiting(session, run));
}

export function listRuns({ db }: MemorySession, filter: RunFilter, scope: OwnerScope): RunRow[] {
  const { definitionId, status, subject, before, limit } = filter;
  const found = [...db.runs.all()].filter(
    (run) =>
      isVisible(run, scope) &&
      (definitionId === undefined || run.definitionId === definitionId) &&
      (status === undefined || status.includes(run.status)) &&
      (subject === undefined || (run.subject?.type === subject.type && run.subject.id === subject.id)) &&
      (before === undefined || run.id < before),
  );
  found.sort((a, b) => (a.id < b.id ? 1 : -1));
  return found.slice(0, limit).map(runRow);
}

export function countRuns(
  { db }: MemorySession,
  scope: OwnerScope,
  definitionId?: string,
): Partial<Record<RunStatus, number>> {
  const counts: Partial<Record<RunStatus, number>> = {};
  for (const run of db.runs.all()) {
    if (!isVisible(run, scope) || (definitionId !== undefined && run.definitionId !== definitionId)) continue;
    counts[run.status] = (counts[run.status] ?? 0) + 1;
  }
  return counts;
}

export function history(session: MemorySession, runId: string, scope: OwnerScope): RunHistory | undefined {
  const run = findRun(session, runId, scope);
  if (run === undefined) return undefined;
  const { db } = session;
  const stageRuns = db.stageRunsOf.of(runId);
  stageRuns.sort(
    (a, b) =>
      a.generation - b.generation ||
      a.position - b.position ||
      a.ordinal - b.ordinal ||
      (escalationLevel(a.key) ?? 0) - (escalationLevel(b.key) ?? 0),
  );
  return {
    run: runDetails(run, isWaiting(session, run)),
    stageRuns: stageRuns.map((row) => stageRunRow(row, dueAt(session, row))),
    attempts: db.attemptsOf.of(runId).map(attemptRow),
    steps: stageRuns.flatMap(({ id }) => db.stepsOf.of(id).sort(inHistory)).map(stepHistoryRow),
    // In the order in which they were written.
    annotations: db.annotationsOf.of(runId).map(annotationRow),
    lines: db.logLinesOf.of(runId).map(logLineRow),
  };
}

function dueAt({ db }: MemorySession, { id, runId }: StageRunRecord): number | null {
  const job = db.jobsOf.of(runId).find((one) => one.stageRunId === id && one.kind === 'execute');
  return job?.state === 'delayed' ? job.runAt : null;
}

/** With a place first, in order; then the others as they were made. */
const inHistory = (a: StepRecord, b: StepRecord): number =>
  a.seq === null && b.seq === null
    ? a.createdAt - b.createdAt || (a.key < b.key ? -1 : 1)
    : (a.seq ?? Infinity) - (b.seq ?? Infinity);

/** Everything open of it is suspended, and there is something. */
function isWaiting({ db }: MemorySession, run: RunRecord): boolean {
  const open = db.stageRunsOf.of(run.id).filter((one) => !isTerminalStageRun(one.status) && !isEscalation(one));
  return run.status === 'RUNNING' && open.length > 0 && open.every(({ status }) => status === 'SUSPENDED');
}

/** Marks runs as awaited, so that their end is announced, and reads those that have ended already. */
export function awaitRuns(session: MemorySession, runIds: readonly string[], scope: OwnerScope): RunDetails[] {
  for (const runId of runIds) {
    const run = findRun(session, runId, scope);
    if (run !== undefined && !isTerminalRun(run.status)) session.db.runs.patch(run, { awaited: true });
  }
  return readFinished(session, runIds, scope);
}

export function readFinished(session: MemorySession, runIds: readonly string[], scope: OwnerScope): RunDetails[] {
  return runIds.flatMap((runId) => {
    const run = findRun(session, runId, scope);
    return run !== undefined && isTerminalRun(run.status) ? runDetails(run, false) : [];
  });
}
