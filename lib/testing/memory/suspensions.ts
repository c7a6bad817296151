import type { SuspendRecord, SuspendVerdict } from '../../engine/ports/step-store.js';
import { isTerminalRun } from '../../engine/state/statuses.js';
import { deliverChild } from './children.js';
import { findFenced } from './fences.js';
import { heldJobOf, putBack } from './jobs.js';
import { hasOutcome, isHeldByAnother } from './ledger.js';
import { stepKey } from './memory-database.js';
import { writeNotes } from './notes.js';
import { tell } from './outbox-writes.js';
import type { StageRunRecord } from './records.js';
import type { MemorySession } from './session.js';
import { giveSignals } from './signals.js';
import type { StepRecord } from './step-records.js';
import { setPlaces } from './steps.js';
import { cancelWait, cancelWaits, endWait, isAbandoned, openWait } from './waits.js';

/** RUNNING → SUSPENDED; or, where what it waits for is there already, back into the queue at once (WAIT-3). */
export function suspend(session: MemorySession, record: SuspendRecord): SuspendVerdict {
  const fenced = findFenced(session, record.lease);
  if (fenced === undefined || heldJobOf(session, fenced.stageRun) === null) return { verdict: 'not-fenced' };
  const { run, stageRun } = fenced;
  const { lease, attempt, waits, keep, orders, events, notes } = record;
  setPlaces(session, lease, orders);
  for (const wait of waits) openWait(session, fenced, lease.token, wait);
  const awaited = new Set([...keep, ...waits.map(({ key }) => key)]);
  cancelWaits(session, stageRun.id, awaited);
  if (notes !== null) writeNotes(session, fenced, attempt, notes);
  if (run.touches !== record.touches) endPolls(session, stageRun);

  if (findMarks(session, stageRun, awaited, lease.token)) {
    queueAgain(session, stageRun);
    return { verdict: 'recorded', suspended: false, dueInMs: null };
  }
  park(session, stageRun);
  tell(session, run.id, events);
  return { verdict: 'recorded', suspended: true, dueInMs: nextDueIn(session, stageRun) };
}

/** What they look at changed since this attempt was claimed: whether before or after they looked, nobody knows. */
function endPolls(session: MemorySession, { id }: StageRunRecord): void {
  const polls = session.db.stepsOf.of(id).filter(({ kind, status }) => kind === 'poll' && status === 'waiting');
  for (const row of polls) endWait(session, row, { status: 'ready' });
}

function park(session: MemorySession, stageRun: StageRunRecord): void {
  const { db } = session;
  const job = heldJobOf(session, stageRun);
  const { queue, capMs } = job ?? stageRun;
  db.stageRuns.patch(stageRun, {
    status: 'SUSPENDED',
    claimToken: null,
    workerId: null,
    finishedAt: null,
    queue,
    capMs,
  });
  if (job !== null) db.jobs.remove(job);
}

function queueAgain(session: MemorySession, stageRun: StageRunRecord): void {
  session.db.stageRuns.patch(stageRun, {
    status: 'PENDING',
    resumed: true,
    resumes: stageRun.resumes + 1,
    claimToken: null,
    workerId: null,
  });
  const job = heldJobOf(session, stageRun);
  if (job !== null) putBack(session, job, 0, stageRun.attempt);
}

/** Whether anything that the body awaits is there. What lies there for its waits is given to them. */
function findMarks(
  session: MemorySession,
  stageRun: StageRunRecord,
  keys: ReadonlySet<string>,
  token: string,
): boolean {
  const { db } = session;
  const rows = [...keys].flatMap((key) => db.steps.get(stepKey(stageRun.id, key)) ?? []);
  endAnswered(session, rows);
  endIdleLeases(session, stageRun, rows, token);
  return rows.some((row) => isMark(row));
}

const isMark = (row: StepRecord): boolean =>
  row.seq === null &&
  (hasOutcome(row) || row.status === 'ready' || (row.kind === 'lease' && row.status === 'cancelled'));

/** Ends waits of a stage run that goes on, and whose answer is there already. Returns how many. */
export function answerWaits(session: MemorySession, stageRunId: string): number {
  const rows = session.db.stepsOf
    .of(stageRunId)
    .filter((row) => row.status === 'waiting' && !isAbandoned(session, row));
  return endAnswered(session, rows);
}

/** Signals that lie there, and children that have ended. */
function endAnswered(session: MemorySession, rows: readonly StepRecord[]): number {
  let ended = giveSignals(session, rows);
  for (const row of rows) {
    const child =
      row.kind === 'child' && row.status === 'waiting' ? session.db.runs.get(row.childRunId ?? '') : undefined;
    if (child === undefined || !isTerminalRun(child.status)) continue;
    deliverChild(session, child, row);
    ended++;
  }
  return ended;
}

/** No body of this stage run runs elsewhere any more: there is no lease left to wait for (STEP-6). */
function endIdleLeases(
  session: MemorySession,
  stageRun: StageRunRecord,
  rows: readonly StepRecord[],
  token: string,
): void {
  const leases = rows.filter((row) => row.kind === 'lease' && row.status === 'waiting');
  if (leases.length === 0) return;
  if (session.db.stepsOf.of(stageRun.id).some((row) => isHeldByAnother(session, row, token))) return;
  for (const row of leases) cancelWait(session, row);
}

/** Milliseconds until the earliest instant at which its waits end by themselves, or null. */
function nextDueIn({ db, now }: MemorySession, stageRun: StageRunRecord): number | null {
  const instants = db.stepsOf
    .of(stageRun.id)
    .flatMap(({ status, dueAt }) => (status === 'waiting' ? (dueAt ?? []) : []));
  return instants.length === 0 ? null : Math.min(...instants) - now;
}
