import type { PromotedJobs, StuckPage, WakeProbe, WakeStore } from '../../engine/ports/wake-store.js';
import { isTerminalRun } from '../../engine/state/statuses.js';
import { isOfEscalation, jobsThatMove } from './escalated-jobs.js';
import { whyExpired } from './expired-leases.js';
import { tell } from './outbox-writes.js';
import type { JobRecord, RunRecord, StartKeyRecord } from './records.js';
import { nextWaitIn } from './fired-waits.js';
import { lastMoveOf } from './run-changes.js';
import type { MemorySession } from './session.js';
import type { StepRecord } from './step-records.js';

export type ProbeThresholds = Readonly<Parameters<WakeStore['probe']>[0]>;

/** A matching that has not ended after so long is not under way any more. */
const MATCHING_MS = 5_000;

export function probe(session: MemorySession, thresholds: ProbeThresholds): WakeProbe {
  const { db, now } = session;
  const { aheadMs, stuckAfterMs, requeueAfterMs, eventRetentionMs } = thresholds;
  const next = db.delayedJobs.first();
  const nextDelayedInMs = next === undefined ? null : next.runAt - now - aheadMs;
  const runs = [...db.runs.all()];
  const nextAt = [...db.triggers.all()].flatMap((row) => row.nextAt ?? []);
  const nextScheduleInMs = nextAt.length === 0 ? null : Math.min(...nextAt) - now - aheadMs;
  return {
    expiredLeases: db.claimedJobs.rows.some((job) => whyExpired(session, job, thresholds) !== undefined),
    delayedDue: nextDelayedInMs !== null && nextDelayedInMs <= 0,
    nextDelayedInMs,
    deadlineDue: runs.some((run) => isOverdue(session, run, aheadMs)),
    sentOverdue: overdueMessages(session, requeueAfterMs).length > 0,
    outboxDue: db.waitingOutbox.rows.some((row) => row.nextAt === null || row.nextAt <= now),
    stuckSuspects: runs.some((run) => isStuck(session, run, stuckAfterMs)),
    waitsDue: isDue(db.dueWaits.first(), now + aheadMs),
    nextWaitInMs: nextWaitIn(session, aheadMs),
    schedulesDue: nextScheduleInMs !== null && nextScheduleInMs <= 0,
    nextScheduleInMs,
    eventWaitsOverdue: isDue(db.dueEventWaits.first(), now + aheadMs),
    unmatched:
      isOlder(db.unmatchedEvents.first(), now - MATCHING_MS) || isOlder(db.uncheckedWaits.first(), now - MATCHING_MS),
    childrenEnded: db.endedChildren.first() !== undefined,
    orphans: db.orphans.first() !== undefined,
    expiredEvents: isOlder(db.eventsByAge.first(), now - eventRetentionMs),
    expiredKeys: [...db.startKeys.all()].some((key) => isOver(key, now)),
  };
}

const isDue = (row: StepRecord | undefined, at: number): boolean => row !== undefined && (row.dueAt ?? Infinity) <= at;

const isOlder = (row: { readonly createdAt: number } | undefined, than: number): boolean =>
  row !== undefined && row.createdAt <= than;

export function promoteDelayed(session: MemorySession, limit: number, aheadMs: number): PromotedJobs {
  const { db, now } = session;
  const due = db.delayedJobs.rows.filter((job) => job.runAt <= now + aheadMs).slice(0, limit);
  const next = db.delayedJobs.rows.find((job) => job.runAt > now + aheadMs);
  for (const job of due) promote(session, job);
  const retries = due.filter((job) => job.kind === 'execute' && job.attempt > 0).length;
  const escalations = due.filter((job) => job.attempt === 0 && isOfEscalation(session, job)).length;
  const nextInMs = next === undefined ? null : next.runAt - now - aheadMs;
  return { promoted: due.length, retries, escalations, nextInMs };
}

/** Makes jobs due again whose messages seem to be lost. */
export function requeueSent(session: MemorySession, requeueAfterMs: number, limit: number): number {
  const lost = overdueMessages(session, requeueAfterMs).slice(0, limit);
  for (const job of lost) session.db.jobs.patch(job, { state: 'due' });
  return lost.length;
}

const overdueMessages = ({ db, now }: MemorySession, requeueAfterMs: number): JobRecord[] =>
  db.sentJobs.rows.filter(({ sentAt }) => sentAt !== null && sentAt <= now - requeueAfterMs);

function promote(session: MemorySession, job: JobRecord): void {
  const { db, now } = session;
  db.jobs.patch(job, { state: 'due' });
  const run = db.runs.get(job.runId);
  if (run?.status !== 'PENDING') return;
  db.runs.patch(run, { status: 'RUNNING', startedAt: now });
  tell(session, run.id, [{ type: 'run:started' }]);
}

export function findStuck(
  session: MemorySession,
  stuckAfterMs: number,
  after: string | null,
  limit: number,
): StuckPage {
  const unfinished = [...session.db.runs.all()]
    .filter((run) => !isTerminalRun(run.status) && (after === null || run.id > after))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  const slice = unfinished.slice(0, limit);
  return {
    runIds: slice.filter((run) => isStuck(session, run, stuckAfterMs)).map((run) => run.id),
    next: unfinished.length > limit ? (slice.at(-1)?.id ?? null) : null,
  };
}

const isStuck = (session: MemorySession, run: RunRecord, stuckAfterMs: number): boolean =>
  run.status === 'RUNNING' &&
  !session.db.waitsOf.has(run.id) &&
  jobsThatMove(session, run).length === 0 &&
  session.now - lastMoveOf(session, run) > stuckAfterMs;

export function findOverdue(session: MemorySession, limit: number, aheadMs: number): { readonly runId: string }[] {
  const overdue = [...session.db.runs.all()].filter((run) => isOverdue(session, run, aheadMs));
  overdue.sort((a, b) => (a.deadlineAt ?? 0) - (b.deadlineAt ?? 0));
  return overdue.slice(0, limit).map((run) => ({ runId: run.id }));
}

const isOverdue = ({ now }: MemorySession, run: RunRecord, aheadMs: number): boolean =>
  !isTerminalRun(run.status) && run.deadlineAt !== null && run.deadlineAt <= now + aheadMs;

export function pruneKeys({ db, now }: MemorySession, limit: number): number {
  const over = [...db.startKeys.all()].filter((key) => isOver(key, now)).slice(0, limit);
  for (const key of over) db.startKeys.remove(key);
  return over.length;
}

const isOver = ({ expiresAt }: StartKeyRecord, now: number): boolean => expiresAt !== null && expiresAt <= now;
