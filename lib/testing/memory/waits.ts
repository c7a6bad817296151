import type { OpenWait } from '../../engine/ports/step-store.js';
import type { JsonText } from '../../engine/state/rows.js';
import { isTerminalRun, isTerminalStageRun } from '../../engine/state/statuses.js';
import type { FencedAttempt } from './fences.js';
import { queueJob } from './jobs.js';
import { hasOutcome, isHeldByAnother, NEW_STEP } from './ledger.js';
import { stepKey } from './memory-database.js';
import type { StageRunRecord } from './records.js';
import type { MemorySession } from './session.js';
import type { StepRecord } from './step-records.js';

/** Opens a wait, or awaits again one that stands. False: it has an outcome, which is left alone. */
export function openWait(
  session: MemorySession,
  { run, stageRun }: FencedAttempt,
  token: string,
  wait: OpenWait,
): boolean {
  const { db, now } = session;
  const { key, kind, epoch, childRunId, state } = wait;
  const known = db.steps.get(stepKey(stageRun.id, key));
  if (known !== undefined && hasOutcome(known)) return false;
  if (known !== undefined && isHeldByAnother(session, known, token)) return true;

  // A failure that the stage's retry opened again is awaited as if it were new.
  const standing = known?.reopened === true ? undefined : known;
  const limit = wait.expiresInMs === null ? null : now + wait.expiresInMs;
  const expiresAt = standing === undefined ? limit : standing.expiresAt;
  const dueAt = standing !== undefined && wait.dueIfNew ? standing.dueAt : earliest(dueOf(session, wait), expiresAt);
  const opened = {
    kind,
    status: 'waiting',
    attempt: (standing?.attempt ?? 0) + (kind === 'poll' ? 1 : 0),
    dueAt,
    expiresAt,
    eventKey: wait.eventKey,
    subjectType: wait.subject?.type ?? null,
    subjectId: wait.subject?.id ?? null,
    where: wait.where,
    epoch,
    childRunId,
    state,
    token: kind === 'run' || kind === 'once' ? token : null,
    leaseUntil: null,
    reopened: false,
    timedOut: false,
    seq: null,
    firedAt: null,
    // Nobody looked for it while it was not open, or was for something else.
    checked: known?.status === 'waiting' && known.checked && isForTheSame(known, wait),
  } as const;
  if (known !== undefined) db.steps.patch(known, opened);
  else {
    const { id: stageRunId, runId } = stageRun;
    db.steps.insert({ ...NEW_STEP, stageRunId, key, runId, ownerId: run.ownerId, createdAt: now, ...opened });
  }
  return true;
}

const isForTheSame = (row: StepRecord, { eventKey, subject, where }: OpenWait): boolean =>
  row.eventKey === eventKey &&
  row.subjectType === (subject?.type ?? null) &&
  row.subjectId === (subject?.id ?? null) &&
  row.where === where;

function dueOf({ now }: MemorySession, { due }: OpenWait): number | null {
  if (due === null) return null;
  return 'at' in due ? Date.parse(due.at) : now + due.inMs;
}

const earliest = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.min(a, b);

export type WaitEnd =
  | { readonly status: 'completed'; readonly result: JsonText | null; readonly eventId?: string }
  | { readonly status: 'completed'; readonly timedOut: true }
  | { readonly status: 'failed'; readonly failure: JsonText }
  | { readonly status: 'ready' }
  | { readonly status: 'cancelled' };

/**
 * Ends a wait from outside, without a place: the attempt that delivers it gives it one. A suspended stage goes on; one
 * that runs finds it when it is to be suspended. True when a job became due.
 *
 * @param nr place among those that one call ends: outcomes stand in the order in which they came
 */
export function endWait(session: MemorySession, row: StepRecord, end: WaitEnd, nr = 0): boolean {
  session.db.steps.patch(row, { ...end, seq: null, firedAt: session.now + nr / 1_000 });
  const stageRun = session.db.stageRuns.get(row.stageRunId);
  return stageRun !== undefined && goOn(session, stageRun);
}

/** Its stage or its run has moved on: nobody awaits it any more. */
export function isAbandoned({ db }: MemorySession, row: StepRecord): boolean {
  const run = db.runs.get(row.runId);
  const stageRun = db.stageRuns.get(row.stageRunId);
  return (
    run === undefined || isTerminalRun(run.status) || stageRun === undefined || isTerminalStageRun(stageRun.status)
  );
}

export function cancelWait(session: MemorySession, row: StepRecord): void {
  session.db.steps.patch(row, { status: 'cancelled', firedAt: session.now });
}

/** Cancels the open waits of a stage run, but for those of `keep`. */
export function cancelWaits(session: MemorySession, stageRunId: string, keep: ReadonlySet<string> = new Set()): void {
  for (const row of session.db.stepsOf.of(stageRunId)) {
    if (row.status === 'waiting' && !keep.has(row.key)) cancelWait(session, row);
  }
}

/** SUSPENDED → PENDING, with a job where its run stands in the queue it had. */
function goOn(session: MemorySession, stageRun: StageRunRecord): boolean {
  const { db, nextId } = session;
  const run = db.runs.get(stageRun.runId);
  if (stageRun.status !== 'SUSPENDED' || run?.status !== 'RUNNING') return false;
  db.stageRuns.patch(stageRun, { status: 'PENDING', resumed: true, resumes: stageRun.resumes + 1 });
  const job = { id: nextId(), queue: stageRun.queue ?? 'default', capMs: stageRun.capMs };
  queueJob(session, { kind: 'execute', run, stageRunId: stageRun.id, job });
  return true;
}
