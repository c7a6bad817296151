import type { AuditEntry } from '../../engine/ports/audit-store.js';
import type { NewEvent, SignalVerdict } from '../../engine/ports/event-store.js';
import type { OwnerScope } from '../../engine/ports/scope.js';
import { isTerminalRun } from '../../engine/state/statuses.js';
import { keepAuditOf } from './audit.js';
import { insertEvent, isKnownMessage } from './events.js';
import { signalKey } from './memory-database.js';
import type { RunRecord } from './records.js';
import { findRun } from './run-reads.js';
import type { MemorySession } from './session.js';
import type { EventRecord, StepRecord } from './step-records.js';
import { endWait, isAbandoned } from './waits.js';

/** Stores a signal to a run, and gives it to the wait for that name that was awaited last, if there is one. */
export function sendSignal(
  session: MemorySession,
  event: NewEvent,
  runId: string,
  scope: OwnerScope,
  audit?: (verdict: SignalVerdict) => AuditEntry,
): SignalVerdict | 'not-found' {
  const run = findRun(session, runId, scope);
  if (run === undefined) return 'not-found';
  const verdict = deliverOrKeep(session, event, run);
  if (audit) keepAuditOf(session, run, audit(verdict));
  return verdict;
}

function deliverOrKeep(session: MemorySession, event: NewEvent, run: RunRecord): SignalVerdict {
  // The same row again, of a call whose answer was lost.
  const known = session.db.events.get(event.id);
  if (known === undefined) {
    if (isKnownMessage(session, event)) return 'duplicate';
    if (isTerminalRun(run.status)) return 'ended';
  }
  const signal = known ?? insertEvent(session, { ...event, ownerId: run.ownerId }, run.id);
  if (known === undefined) giveSignals(session, waitsFor(session, run.id, event.key));
  return signal.taken ? 'delivered' : 'stored';
}

/**
 * Ends waits for signals with those that lie there: the oldest of a name goes to the first wait for it, the next to the next. A wait
 * whose limit has passed stands behind the others, and gets only what came before that. Returns how many it ended.
 */
export function giveSignals(session: MemorySession, waits: readonly StepRecord[]): number {
  const given = lyingSignals(session, waits);
  for (const [row, signal] of given) takeSignal(session, row, signal);
  return given.size;
}

/** Which signal each of these waits is to get. */
export function lyingSignals({ db, now }: MemorySession, waits: readonly StepRecord[]): Map<StepRecord, EventRecord> {
  const byName = new Map<string, StepRecord[]>();
  for (const row of waits) {
    if (row.kind !== 'signal' || row.status !== 'waiting') continue;
    const name = signalKey(row.runId, row.eventKey ?? '');
    byName.set(name, [...(byName.get(name) ?? []), row]);
  }
  const given = new Map<StepRecord, EventRecord>();
  for (const [name, rows] of byName) {
    const signals = [...db.untakenSignals.of(name)].sort((a, b) => (a.id < b.id ? -1 : 1));
    rows.sort((a, b) => Number(isLate(a, now)) - Number(isLate(b, now)) || compareAwaited(a, b));
    for (const [place, row] of rows.entries()) {
      const signal = signals[place];
      if (signal === undefined) break;
      if (row.expiresAt === null || signal.createdAt < row.expiresAt) given.set(row, signal);
    }
  }
  return given;
}

export function takeSignal(session: MemorySession, row: StepRecord, signal: EventRecord, nr = 0): void {
  session.db.events.patch(signal, { taken: true });
  endWait(session, row, { status: 'completed', result: signal.payload, eventId: signal.id }, nr);
}

/** Awaited last first, by how many outcomes the body had; of those awaited together the first. */
const compareAwaited = (a: StepRecord, b: StepRecord): number =>
  b.epoch - a.epoch || a.createdAt - b.createdAt || a.key.length - b.key.length || (a.key < b.key ? -1 : 1);

const isLate = ({ expiresAt }: StepRecord, now: number): boolean => expiresAt !== null && expiresAt <= now;

const waitsFor = (session: MemorySession, runId: string, name: string): StepRecord[] =>
  session.db.waitsOf
    .of(runId)
    .filter((row) => row.kind === 'signal' && row.eventKey === name && !isAbandoned(session, row));
