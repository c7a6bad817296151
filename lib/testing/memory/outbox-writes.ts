import type { EngineEvent } from '../../engine/state/rows.js';
import type { StageRunRecord } from './records.js';
import type { MemorySession } from './session.js';

/** Writes what the world is told, in the call that makes it true (EVT-1). */
export function tell({ db, now }: MemorySession, runId: string, events: readonly EngineEvent[]): void {
  if (events.length === 0) return;
  db.outbox.insert({
    id: db.nextOutboxId(),
    runId,
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
