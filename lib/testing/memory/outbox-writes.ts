import type { EngineEvent } from '../../engine/state/rows.js';
import type { OutboxSubject, StageRunRecord } from './records.js';
import type { MemorySession } from './session.js';

/** Writes what the world is told, in the call that makes it true (EVT-1). */
export function tell(session: MemorySession, runId: string, events: readonly EngineEvent[]): void {
  if (events.length > 0) put(session, runId, null, events);
}

/** The same of a definition: no run stands behind it. */
export function tellOfDefinition(
  session: MemorySession,
  seriesId: string,
  { ownerId, definitionId, version, actor }: Omit<OutboxSubject, 'version'> & { readonly version: number | null },
  events: readonly EngineEvent[],
): void {
  put(session, seriesId, { ownerId, definitionId, version: version ?? 0, actor }, events);
}

function put(
  { db, now }: MemorySession,
  runId: string,
  about: OutboxSubject | null,
  events: readonly EngineEvent[],
): void {
  db.outbox.insert({
    id: db.nextOutboxId(),
    runId,
    about,
    slot: db.outboxSlotOf(runId),
    events: JSON.stringify(events),
    createdAt: now,
    delivered: 0,
    attempts: 0,
    dead: false,
    nextAt: null,
    error: null,
  });
}

export function stageStarted({ id, key, stage, attempt }: StageRunRecord): EngineEvent {
  return { type: 'stage:started', stageRunId: id, node: key, stage, data: { attempt } };
}
