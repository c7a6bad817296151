import type { AuditEntry } from '../../engine/ports/audit-store.js';
import type { OutboxRow, ReplayedLetter, UnheardRows } from '../../engine/ports/wake-store.js';
import { writeAudit } from './audit.js';
import type { OutboxRecord, OutboxSlotRecord } from './records.js';
import type { MemorySession } from './session.js';
import { instant } from './views.js';

export function leaseSlots(
  { db, now }: MemorySession,
  relayId: string,
  ttlMs: number,
  most: number,
  unheardForMs?: number,
): number[] {
  const isMine = (slot: OutboxSlotRecord): boolean => slot.lockedBy === relayId && slot.lockedUntil > now;
  const isFree = (slot: OutboxSlotRecord): boolean => slot.lockedBy === null || slot.lockedUntil <= now;
  const slots = [...db.outboxSlots.all()].filter(
    (slot) => unheardForMs === undefined || isUnheard(slot, now, unheardForMs),
  );
  const wanted = [...slots.filter(isMine), ...slots.filter(isFree)].slice(0, most);
  for (const slot of wanted) {
    const heardAt = unheardForMs === undefined ? now : slot.heardAt;
    db.outboxSlots.patch(slot, { lockedBy: relayId, lockedUntil: now + ttlMs, heardAt });
  }
  return wanted.map(({ slot }) => slot);
}

const isUnheard = ({ heardAt }: OutboxSlotRecord, now: number, forMs: number): boolean =>
  heardAt === null || heardAt < now - forMs;

export function releaseSlots({ db }: MemorySession, relayId: string): void {
  for (const slot of db.outboxSlots.all()) {
    if (slot.lockedBy === relayId) db.outboxSlots.patch(slot, { lockedBy: null, lockedUntil: 0 });
  }
}

/** Waiting rows of the slots that this relay still holds, oldest first. */
function heldRows({ db, now }: MemorySession, relayId: string, slots: readonly number[]): OutboxRecord[] {
  const held = new Set(
    slots.filter((slot) => {
      const row = db.outboxSlots.get(String(slot));
      return row?.lockedBy === relayId && row.lockedUntil > now;
    }),
  );
  return db.waitingOutbox.rows.filter((row) => held.has(row.slot));
}

export function readOutbox(
  session: MemorySession,
  relayId: string,
  slots: readonly number[],
  limit: number,
): OutboxRow[] {
  const heldBack = new Set<string>();
  const rows: OutboxRow[] = [];
  for (const row of heldRows(session, relayId, slots)) {
    if (rows.length >= limit) break;
    if (row.nextAt !== null && row.nextAt > session.now) heldBack.add(row.runId);
    if (!heldBack.has(row.runId)) rows.push(outboxRow(session, row));
  }
  return rows;
}

export function ackOutbox({ db }: MemorySession, ids: readonly string[]): void {
  for (const id of ids) {
    const row = db.outbox.get(id);
    if (row !== undefined) db.outbox.remove(row);
  }
}

export function failOutbox(
  { db, now }: MemorySession,
  id: string,
  delivered: number,
  message: string,
  retryInMs: number | null,
): void {
  const row = db.outbox.get(id);
  if (row === undefined) return;
  db.outbox.patch(row, {
    delivered,
    attempts: row.attempts + 1,
    error: message,
    dead: retryInMs === null,
    nextAt: retryInMs === null ? null : now + retryInMs,
  });
}

export function discardOutbox(
  session: MemorySession,
  relayId: string,
  slots: readonly number[],
  limit: number,
  { olderThanMs, unheardForMs }: UnheardRows,
): number {
  const { db, now } = session;
  const unheard = slots.filter((slot) => {
    const row = db.outboxSlots.get(String(slot));
    return row !== undefined && isUnheard(row, now, unheardForMs);
  });
  const old = heldRows(session, relayId, unheard).filter(({ createdAt }) => createdAt <= now - olderThanMs);
  const rows = old.slice(0, limit);
  for (const row of rows) db.outbox.remove(row);
  return rows.length;
}

export function listDeadLetters(session: MemorySession, limit: number): (OutboxRow & { error: string | null })[] {
  const dead = [...session.db.outbox.all()].filter((row) => row.dead).sort((a, b) => a.id - b.id);
  return dead.slice(0, limit).map((row) => ({ ...outboxRow(session, row), error: row.error }));
}

export function replayDeadLetters(
  session: MemorySession,
  ids: readonly string[],
  audit?: (letter: ReplayedLetter) => AuditEntry,
): number {
  const { db } = session;
  const dead = ids.flatMap((id) => db.outbox.get(id) ?? []).filter((row) => row.dead);
  for (const row of dead) db.outbox.patch(row, { dead: false, attempts: 0, nextAt: null, error: null });
  for (const { id, runId, about } of audit ? dead : []) {
    const letter = { id: String(id), runId: about ? null : runId };
    const ownerId = about ? about.ownerId : (db.runs.get(runId)?.ownerId ?? null);
    writeAudit(session, { ...audit!(letter), runId: letter.runId, ownerId });
  }
  return dead.length;
}

function outboxRow({ db }: MemorySession, row: OutboxRecord): OutboxRow {
  const { about } = row;
  if (about) {
    const { ownerId, definitionId, version: definitionVersion, actor } = about;
    const none = { subjectType: null, subjectId: null, trace: null, definitionKey: null } as const;
    return { ...told(row), ...none, runId: null, seriesId: row.runId, definitionId, definitionVersion, ownerId, actor };
  }
  const run = db.runs.get(row.runId);
  if (run === undefined) throw new Error(`Outbox row ${row.id} tells of run ${row.runId}, which does not exist.`);
  return {
    ...told(row),
    runId: row.runId,
    seriesId: row.runId,
    definitionId: run.definitionId,
    definitionVersion: run.definitionVersion,
    definitionKey: run.definitionKey,
    ownerId: run.ownerId,
    subjectType: run.subject?.type ?? null,
    subjectId: run.subject?.id ?? null,
    actor: run.actor,
    trace: run.trace,
  };
}

const told = ({ id, events, delivered, attempts, createdAt }: OutboxRecord) => ({
  id: String(id),
  events,
  delivered,
  attempts,
  createdAt: instant(createdAt),
});
