import type { Cursor, EventWait, FiredTimeouts, StoredEvent, WaitPlace } from '../../engine/ports/event-store.js';
import { compareAgesOfSteps, compareDue, ownedKey, stepKey, type MemoryDatabase } from './memory-database.js';
import type { MemorySession } from './session.js';
import type { EventRecord, StepRecord } from './step-records.js';
import { cancelWait, endWait, isAbandoned } from './waits.js';

/** A wait for an event, as matching sees it. */
export const waitOf = ({ now }: MemorySession, row: StepRecord): EventWait => ({
  runId: row.runId,
  stageRunId: row.stageRunId,
  key: row.key,
  ownerId: row.ownerId,
  eventKey: row.eventKey ?? '',
  subject: row.subjectType === null || row.subjectId === null ? null : { type: row.subjectType, id: row.subjectId },
  where: row.where,
  overdue: row.expiresAt !== null && row.expiresAt <= now,
});

/** A wait that names no subject takes events about any. */
export const isSubjectOf = (row: StepRecord, event: Pick<EventRecord, 'subjectType' | 'subjectId'>): boolean =>
  row.subjectType === null || (row.subjectType === event.subjectType && row.subjectId === event.subjectId);

/** What is recorded after a wait's limit comes too late, whenever it is looked at (WAIT-3). */
export const isRecordedInTime = (row: StepRecord, { createdAt }: EventRecord): boolean =>
  row.expiresAt === null || createdAt < row.expiresAt;

/** A run gets an event once, however many of its waits it would end. */
export const hadEvent = (db: MemoryDatabase, runId: string, eventId: string): boolean =>
  db.stepsByEvent.of(eventId).some((row) => row.runId === runId);

/** Open waits that could take an event, in pages. */
export function findWaits(
  session: MemorySession,
  event: StoredEvent,
  after: Cursor,
  limit: number,
): { waits: EventWait[]; next: Cursor } {
  const { db } = session;
  const stored = db.events.get(event.id);
  if (stored === undefined) return { waits: [], next: null };
  const found = db.eventWaits
    .of(ownedKey(event.key, event.ownerId))
    .filter((row) => isSubjectOf(row, stored) && isRecordedInTime(row, stored) && !hadEvent(db, row.runId, stored.id))
    .map((row) => ({ row, place: placeOf(row) }))
    .filter(({ place }) => after === null || place > after)
    .sort((a, b) => (a.place < b.place ? -1 : 1));
  const page = found.slice(0, limit);
  return {
    waits: page.map(({ row }) => waitOf(session, row)),
    next: found.length > limit ? (page.at(-1)?.place ?? null) : null,
  };
}

const placeOf = ({ runId, stageRunId, key }: StepRecord): string => JSON.stringify([runId, stageRunId, key]);

/** Open waits that nobody has looked up stored events for. */
export function uncheckedWaits(
  session: MemorySession,
  of: readonly string[] | { readonly olderThanMs: number; readonly after?: WaitPlace },
  limit: number,
): EventWait[] {
  const { db, now } = session;
  const rows =
    'olderThanMs' in of
      ? behind(db, db.uncheckedWaits.rows, of.after, compareAgesOfSteps)
          .slice(0, limit)
          .filter(({ createdAt }) => createdAt <= now - of.olderThanMs)
      : of.flatMap((id) => db.stepsOf.of(id)).filter((row) => isOpenEvent(row) && !row.checked);
  return rows.slice(0, limit).map((row) => waitOf(session, row));
}

function behind(
  db: MemoryDatabase,
  rows: readonly StepRecord[],
  after: WaitPlace | undefined,
  compare: (a: StepRecord, b: StepRecord) => number,
): readonly StepRecord[] {
  const last = after && db.steps.get(stepKey(after.stageRunId, after.key));
  return last === undefined ? rows : rows.filter((row) => compare(row, last) > 0);
}

const isOpenEvent = ({ kind, status }: StepRecord): boolean => kind === 'event' && status === 'waiting';

export function markChecked({ db }: MemorySession, waits: readonly EventWait[]): void {
  for (const { stageRunId, key } of waits) {
    const row = db.steps.get(stepKey(stageRunId, key));
    if (row !== undefined) db.steps.patch(row, { checked: true });
  }
}

/** Waits whose limit has passed: ended by `fireTimeouts`, after what lies there for them has been matched. */
export function overdueEventWaits(
  session: MemorySession,
  limit: number,
  aheadMs: number,
  after?: WaitPlace,
): EventWait[] {
  const { db } = session;
  const rows = behind(db, db.dueEventWaits.rows, after, compareDue).slice(0, limit);
  return rows.filter((row) => isPast(session, row, aheadMs)).map((row) => ({ ...waitOf(session, row), overdue: true }));
}

const isPast = ({ now }: MemorySession, { dueAt }: StepRecord, aheadMs: number): boolean =>
  dueAt !== null && dueAt <= now + aheadMs;

export function fireTimeouts(session: MemorySession, waits: readonly EventWait[], aheadMs: number): FiredTimeouts {
  let fired = 0;
  let ended = 0;
  for (const [nr, { stageRunId, key }] of waits.entries()) {
    const row = session.db.steps.get(stepKey(stageRunId, key));
    if (row === undefined || !isOpenEvent(row) || !isPast(session, row, aheadMs)) continue;
    ended++;
    if (isAbandoned(session, row)) {
      cancelWait(session, row);
      continue;
    }
    endWait(session, row, { status: 'completed', timedOut: true }, nr);
    fired++;
  }
  return { fired, ended, busy: 0 };
}
