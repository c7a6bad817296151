import type { NewEvent } from '../../engine/ports/event-store.js';
import type { OwnerScope } from '../../engine/ports/scope.js';
import { isTerminalRun } from '../../engine/state/statuses.js';
import { insertEvent, isKnownMessage } from './events.js';
import { signalKey } from './memory-database.js';
import { findRun } from './run-reads.js';
import type { MemorySession } from './session.js';
import type { EventRecord, StepRecord } from './step-records.js';
import { endWait } from './waits.js';

/** Stores a signal to a run, and gives it to the wait for that name that was awaited last, if there is one. */
export function sendSignal(
  session: MemorySession,
  event: NewEvent,
  runId: string,
  scope: OwnerScope,
): 'delivered' | 'stored' | 'duplicate' | 'not-found' | 'ended' {
  const run = findRun(session, runId, scope);
  if (run === undefined) return 'not-found';
  // The same row again, of a call whose answer was lost.
  const known = session.db.events.get(event.id);
  if (known === undefined) {
    if (isKnownMessage(session, event)) return 'duplicate';
    if (isTerminalRun(run.status)) return 'ended';
  }
  const signal = known ?? insertEvent(session, { ...event, ownerId: run.ownerId }, runId);
  if (known === undefined) deliverSignal(session, runId, event.key);
  return signal.taken ? 'delivered' : 'stored';
}

/** Gives the oldest signal of this name to the wait for it that was awaited last. True when there were both. */
export function deliverSignal(session: MemorySession, runId: string, name: string): boolean {
  for (const row of waitsFor(session, runId, name)) {
    const signal = findSignal(session, row);
    if (signal === undefined) continue;
    takeSignal(session, row, signal);
    return true;
  }
  return false;
}

/** The oldest signal that lies there for a wait and came before its limit. */
export function findSignal({ db }: MemorySession, row: StepRecord): EventRecord | undefined {
  const signals = db.untakenSignals.of(signalKey(row.runId, row.eventKey ?? ''));
  const inTime = signals.filter(({ createdAt }) => row.expiresAt === null || createdAt < row.expiresAt);
  return inTime.sort((a, b) => (a.id < b.id ? -1 : 1))[0];
}

export function takeSignal(session: MemorySession, row: StepRecord, signal: EventRecord, nr = 0): boolean {
  session.db.events.patch(signal, { taken: true });
  return endWait(session, row, { status: 'completed', result: signal.payload, eventId: signal.id }, nr);
}

/** Awaited last first, by how many outcomes the body had; of those awaited together the first. */
function waitsFor({ db }: MemorySession, runId: string, name: string): StepRecord[] {
  const rows = db.waitsOf.of(runId).filter(({ kind, eventKey }) => kind === 'signal' && eventKey === name);
  return rows.sort((a, b) => b.epoch - a.epoch || a.createdAt - b.createdAt || (a.key < b.key ? -1 : 1));
}
