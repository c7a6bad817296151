import type { Cursor, EventWait, NewEvent, StoredEvent } from '../../engine/ports/event-store.js';
import type { EventMatch } from '../../engine/ports/step-store.js';
import { hadEvent, isRecordedInTime, isSubjectOf } from './event-waits.js';
import { ownedKey, stepKey } from './memory-database.js';
import type { MemorySession } from './session.js';
import type { EventRecord } from './step-records.js';
import { endWait, isAbandoned } from './waits.js';

/**
 * Stores an event; matching is a call of its own. False: this message was stored before. The same row again, of a call
 * whose answer was lost, was stored.
 */
export function storeEvent(session: MemorySession, event: NewEvent): boolean {
  if (session.db.events.get(event.id) !== undefined) return true;
  if (isKnownMessage(session, event)) return false;
  insertEvent(session, event, null);
  return true;
}

export const isKnownMessage = ({ db }: MemorySession, { messageDigest }: NewEvent): boolean =>
  messageDigest !== null && db.eventsByMessage.has(messageDigest.toString('hex'));

/** @param runId of a signal: the run that it is for */
export function insertEvent({ db, now }: MemorySession, event: NewEvent, runId: string | null): EventRecord {
  const { id, ownerId, key, subject, payload, messageDigest, source = null } = event;
  return db.events.insert({
    id,
    ownerId,
    runId,
    key,
    subjectType: subject?.type ?? null,
    subjectId: subject?.id ?? null,
    payload,
    source,
    messageDigest: messageDigest?.toString('hex') ?? null,
    createdAt: now,
    matched: false,
    taken: false,
  });
}

const storedEvent = ({ id, ownerId, key, subjectType, subjectId, payload, source }: EventRecord): StoredEvent => ({
  id,
  ownerId,
  key,
  subject: subjectType === null || subjectId === null ? null : { type: subjectType, id: subjectId },
  payload,
  source,
});

/** Events kept that could end this wait, oldest first. */
export function findEvents(
  { db }: MemorySession,
  wait: EventWait,
  after: Cursor,
  limit: number,
): { events: StoredEvent[]; next: Cursor } {
  const row = db.steps.get(stepKey(wait.stageRunId, wait.key));
  if (row?.status !== 'waiting') return { events: [], next: null };
  const found = db.eventsByKey
    .of(ownedKey(wait.eventKey, wait.ownerId))
    .filter((event) => after === null || event.id > after)
    .filter((event) => isSubjectOf(row, event) && isRecordedInTime(row, event) && !hadEvent(db, row.runId, event.id))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  const page = found.slice(0, limit);
  return { events: page.map(storedEvent), next: found.length > limit ? (page.at(-1)?.id ?? null) : null };
}

/** Ends waits with their events. An event reaches a run once. Nobody holds a lock here: none is busy. */
export function fireEvents(
  session: MemorySession,
  matches: readonly EventMatch[],
): { fired: EventMatch[]; busy: EventMatch[] } {
  return { fired: matches.filter((match, nr) => fireEvent(session, match, nr)), busy: [] };
}

function fireEvent(session: MemorySession, { stageRunId, key, eventId }: EventMatch, nr: number): boolean {
  const { db } = session;
  const row = db.steps.get(stepKey(stageRunId, key));
  const event = db.events.get(eventId);
  if (row?.status !== 'waiting' || row.kind !== 'event' || event === undefined) return false;
  if (isAbandoned(session, row) || !isRecordedInTime(row, event) || hadEvent(db, row.runId, eventId)) return false;
  endWait(session, row, { status: 'completed', result: event.payload, eventId }, nr);
  return true;
}

/** In pages, by age and then by id. */
export function unmatchedEvents(
  { db, now }: MemorySession,
  olderThanMs: number,
  after: Cursor,
  limit: number,
): { events: StoredEvent[]; next: Cursor } {
  const [at, id] = after === null ? [-Infinity, ''] : (JSON.parse(after) as [number, string]);
  const page: EventRecord[] = [];
  for (const event of db.unmatchedEvents.rows) {
    if (page.length === limit || event.createdAt > now - olderThanMs) break;
    if (event.createdAt > at || (event.createdAt === at && event.id > id)) page.push(event);
  }
  const last = page.length < limit ? undefined : page.at(-1);
  return { events: page.map(storedEvent), next: last ? JSON.stringify([last.createdAt, last.id]) : null };
}

export function markMatched({ db }: MemorySession, eventIds: readonly string[]): void {
  for (const id of eventIds) {
    const event = db.events.get(id);
    if (event !== undefined) db.events.patch(event, { matched: true });
  }
}

/** Removes events and signals that were kept for longer. */
export function pruneEvents({ db, now }: MemorySession, retentionMs: number, limit: number): number {
  const old = db.eventsByAge.rows.slice(0, limit).filter(({ createdAt }) => createdAt <= now - retentionMs);
  for (const event of old) db.events.remove(event);
  return old.length;
}
