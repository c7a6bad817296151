import type { FiredWaits } from '../../engine/ports/step-store.js';
import { isTerminalRun } from '../../engine/state/statuses.js';
import { deliverChild } from './children.js';
import type { MemorySession } from './session.js';
import { lyingSignals, takeSignal } from './signals.js';
import type { EventRecord, StepRecord } from './step-records.js';
import { cancelWait, endWait, isAbandoned } from './waits.js';

type Counted = 'timers' | 'timeouts' | 'polls' | 'retries';

/** Ends the waits whose time has come, the longest due first, but for those for events. */
export function fireDue(session: MemorySession, limit: number, aheadMs: number): FiredWaits {
  const { db, now } = session;
  const counts = { timers: 0, timeouts: 0, polls: 0, retries: 0 };
  let resumed = 0;
  const page: StepRecord[] = [];
  for (const row of db.dueWaits.rows) {
    if (page.length >= limit || (row.dueAt ?? Infinity) > now + aheadMs) break;
    page.push(row);
  }
  const signals = lyingSignals(
    session,
    page.filter((row) => !isAbandoned(session, row)),
  );
  for (const [nr, row] of page.entries()) {
    const before = db.stageRuns.get(row.stageRunId)?.status;
    const counted = fire(session, row, signals.get(row), nr);
    if (counted !== undefined) counts[counted]++;
    if (before === 'SUSPENDED' && db.stageRuns.get(row.stageRunId)?.status === 'PENDING') resumed++;
  }
  return { ...counts, resumed, ended: page.length, nextInMs: nextWaitIn(session, aheadMs), more: page.length >= limit };
}

function fire(
  session: MemorySession,
  row: StepRecord,
  signal: EventRecord | undefined,
  nr: number,
): Counted | undefined {
  if (isAbandoned(session, row)) {
    cancelWait(session, row);
    return undefined;
  }
  switch (row.kind) {
    case 'sleep':
      endWait(session, row, { status: 'completed', result: null }, nr);
      return 'timers';
    case 'poll':
    case 'completion':
      endWait(session, row, { status: 'ready' }, nr);
      return 'polls';
    case 'run':
    case 'once':
    case 'transaction':
      endWait(session, row, { status: 'ready' }, nr);
      return 'retries';
    case 'lease':
      endWait(session, row, { status: 'cancelled' }, nr);
      return 'retries';
    case 'signal':
    case 'child':
    case 'event':
      return timeOut(session, row, signal, nr);
  }
}

/** Unless what it waits for came in time and was not delivered yet: that counts (WAIT-3). */
function timeOut(
  session: MemorySession,
  row: StepRecord,
  signal: EventRecord | undefined,
  nr: number,
): Counted | undefined {
  if (signal !== undefined) {
    takeSignal(session, row, signal, nr);
    return undefined;
  }
  const child = row.childRunId === null ? undefined : session.db.runs.get(row.childRunId);
  if (
    child !== undefined &&
    isTerminalRun(child.status) &&
    (child.finishedAt ?? Infinity) <= (row.expiresAt ?? Infinity)
  ) {
    deliverChild(session, child, row, nr);
    return undefined;
  }
  endWait(session, row, { status: 'completed', timedOut: true }, nr);
  return 'timeouts';
}

/** Milliseconds until the next wait ends by itself, those for events included, or null. */
export function nextWaitIn({ db, now }: MemorySession, aheadMs: number): number | null {
  const horizon = now + aheadMs;
  const instants = [db.dueWaits, db.dueEventWaits].flatMap(({ rows }) => {
    const next = rows.find(({ dueAt }) => dueAt !== null && dueAt > horizon);
    return next?.dueAt ?? [];
  });
  return instants.length === 0 ? null : Math.min(...instants) - horizon;
}
