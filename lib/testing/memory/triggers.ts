import type { Cursor, StoredEvent } from '../../engine/ports/event-store.js';
import type { OwnerScope } from '../../engine/ports/scope.js';
import type {
  ClaimedSchedule,
  FoundTrigger,
  NewTrigger,
  RunAncestor,
  ScheduleMove,
  TriggerNote,
  TriggerRow,
  TriggersInForce,
  TriggerStore,
} from '../../engine/ports/trigger-store.js';
import { isTerminalRun } from '../../engine/state/statuses.js';
import type { TriggerRecord } from './records.js';
import type { MemorySession } from './session.js';
import { instantOrNull } from './views.js';

/** A definition's trigger; nobody's and an owner's are two. */
export const triggerKey = (row: Pick<TriggerRecord, 'ownerId' | 'definitionId' | 'triggerId'>): string =>
  JSON.stringify([row.ownerId, row.definitionId, row.triggerId]);

/** Triggers of a version come in force; those of the definition that are not among them go. */
export function putTriggers(session: MemorySession, inForce: TriggersInForce): void {
  const { db } = session;
  const named = new Set(inForce.triggers.map(({ triggerId }) => triggerId));
  for (const row of db.triggers.all()) {
    const ofIt = row.definitionId === inForce.definitionId && row.ownerId === inForce.ownerId;
    if (!ofIt || row.status !== 'active' || named.has(row.triggerId)) continue;
    db.triggers.patch(row, { status: 'retired', nextAt: null, lockedUntil: null, version: row.version + 1 });
  }
  for (const trigger of inForce.triggers) putTrigger(session, inForce, trigger);
}

function putTrigger(
  { db, now }: MemorySession,
  { ownerId, definitionId, definitionVersion }: TriggersInForce,
  { id, triggerId, type, spec, fingerprint, eventKey }: NewTrigger,
): void {
  const begin = type === 'schedule' ? now : null;
  const said = { definitionVersion, type, spec, fingerprint, eventKey, status: 'active', lockedUntil: null } as const;
  const known = db.triggers.get(triggerKey({ ownerId, definitionId, triggerId }));
  if (known === undefined) {
    const nothing = { lastRunId: null, lastOutcome: null, lastError: null, started: 0, passedOver: 0, version: 0 };
    const row = { id, ownerId, definitionId, triggerId, ...said, lastAt: begin, nextAt: begin, ...nothing };
    db.triggers.insert(row);
    return;
  }
  const kept = known.status === 'active' && known.type === type && known.fingerprint === fingerprint;
  db.triggers.patch(known, {
    ...said,
    id: known.type === type ? known.id : id,
    version: known.version + 1,
    ...(!kept && { lastAt: begin, nextAt: begin }),
  });
}

export function listTriggers(
  { db }: MemorySession,
  { definitionId, limit }: Parameters<TriggerStore['listTriggers']>[0],
  scope: OwnerScope,
): TriggerRow[] {
  return [...db.triggers.all()]
    .filter((row) => 'all' in scope || row.ownerId === null || row.ownerId === scope.owner)
    .filter((row) => definitionId === undefined || row.definitionId === definitionId)
    .sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))
    .slice(0, limit)
    .map(triggerRow);
}

const placeOf = ({ definitionId, ownerId, triggerId }: TriggerRecord): string =>
  JSON.stringify([definitionId, ownerId ?? '', triggerId]);

function triggerRow({
  fingerprint: _,
  version: __,
  lockedUntil: ___,
  lastAt,
  nextAt,
  ...row
}: TriggerRecord): TriggerRow {
  return { ...row, lastAt: instantOrNull(lastAt), nextAt: instantOrNull(nextAt) };
}

/** Schedules that are due and that nobody has, leased. */
export function claimSchedules(
  session: MemorySession,
  limit: number,
  aheadMs: number,
  leaseMs: number,
): ClaimedSchedule[] {
  const { db, now } = session;
  const asOf = now + aheadMs;
  return dueSchedules(session, asOf)
    .slice(0, limit)
    .map((row) => {
      db.triggers.patch(row, { lockedUntil: now + leaseMs, version: row.version + 1 });
      const { id, ownerId, definitionId, definitionVersion, triggerId, spec, version, lastAt, lastRunId } = row;
      const run = lastRunId === null ? undefined : db.runs.get(lastRunId);
      const lastRunOpen = run !== undefined && !isTerminalRun(run.status);
      const names = { id, ownerId, definitionId, definitionVersion, triggerId, spec, version };
      return { ...names, cursor: Math.floor(lastAt!), asOf: Math.floor(asOf), lastRunOpen };
    });
}

function dueSchedules({ db, now }: MemorySession, asOf: number): TriggerRecord[] {
  return [...db.triggers.all()]
    .filter(
      ({ nextAt, lockedUntil }) => nextAt !== null && nextAt <= asOf && (lockedUntil === null || lockedUntil <= now),
    )
    .sort((a, b) => a.nextAt! - b.nextAt! || (a.id < b.id ? -1 : 1));
}

export function moveSchedules({ db }: MemorySession, moves: readonly ScheduleMove[]): number {
  const rows = new Map([...db.triggers.all()].map((row) => [row.id, row]));
  let moved = 0;
  for (const { id, version, cursor, next, runId, outcome, error, started, passedOver } of moves) {
    const row = rows.get(id);
    if (row?.status !== 'active' || row.version !== version) continue;
    moved += 1;
    db.triggers.patch(row, {
      lastAt: cursor,
      nextAt: next,
      lockedUntil: null,
      version: version + 1,
      lastRunId: runId ?? row.lastRunId,
      started: row.started + started,
      passedOver: row.passedOver + passedOver,
      ...(outcome !== null && { lastOutcome: outcome, lastError: error }),
    });
  }
  return moved;
}

export function nextScheduleIn({ db, now }: MemorySession, aheadMs: number): number | null {
  const free = [...db.triggers.all()].filter(({ lockedUntil }) => lockedUntil === null || lockedUntil <= now);
  const nextAt = free.flatMap((row) => row.nextAt ?? []);
  return nextAt.length === 0 ? null : Math.min(...nextAt) - now - aheadMs;
}

/** An owner's own graph stands for the shared one of the same id. */
export function findEventTriggers(
  { db }: MemorySession,
  { key, ownerId }: Pick<StoredEvent, 'key' | 'ownerId'>,
  after: Cursor,
  limit: number,
): { triggers: FoundTrigger[]; next: Cursor } {
  const hasOwn = (definitionId: string): boolean =>
    ownerId !== null &&
    [...db.graphs.all()].some(
      (graph) => graph.definitionId === definitionId && graph.ownerId === ownerId && graph.status === 'published',
    );
  const found = [...db.triggers.all()]
    .filter((row) => row.eventKey === key && row.status === 'active' && (after === null || row.id > after))
    .filter((row) => row.ownerId === ownerId || (row.ownerId === null && !hasOwn(row.definitionId)))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  const triggers = found.slice(0, limit).map(foundTrigger);
  return { triggers, next: found.length < limit ? null : (triggers.at(-1)?.id ?? null) };
}

export function findHook({ db }: MemorySession, id: string): FoundTrigger | undefined {
  const row = [...db.triggers.all()].find(
    (each) => each.id === id && each.type === 'webhook' && each.status === 'active',
  );
  return row && foundTrigger(row);
}

const foundTrigger = ({
  id,
  ownerId,
  definitionId,
  definitionVersion,
  triggerId,
  spec,
}: TriggerRecord): FoundTrigger => ({
  ...{ id, ownerId, definitionId, definitionVersion, triggerId, spec },
});

export function noteTrigger({ db, now }: MemorySession, id: string, note: TriggerNote): void {
  const row = [...db.triggers.all()].find((each) => each.id === id && each.type !== 'schedule');
  if (row === undefined) return;
  db.triggers.patch(row, {
    lastAt: now,
    lastRunId: note.runId ?? row.lastRunId,
    lastOutcome: note.outcome ?? row.lastOutcome,
    lastError: note.error,
    started: row.started + note.started,
    passedOver: row.passedOver + note.passedOver,
  });
}

export function readAncestry({ db }: MemorySession, runId: string, ownerId: string | null): RunAncestor[] {
  const found: RunAncestor[] = [];
  let run = db.runs.get(runId);
  if (run?.ownerId !== ownerId) return [];
  while (run !== undefined) {
    found.push({ definitionId: run.definitionId, origin: run.origin });
    run = run.parentRunId === null ? undefined : db.runs.get(run.parentRunId);
  }
  return found;
}
