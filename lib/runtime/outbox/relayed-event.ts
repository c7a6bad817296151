import { decodeJson } from '../../engine/codec/index.js';
import type { OutboxRow, SubjectName } from '../../engine/ports/index.js';
import type { EngineEvent, EngineEventType, JsonText } from '../../engine/state/rows.js';

/** An event as it leaves the outbox. */
export interface RelayedEvent {
  /** The same each time it is delivered. */
  readonly id: string;
  readonly type: EngineEventType;
  /** Null: it is about a definition. */
  readonly run: { readonly id: string; readonly definition: string; readonly version: number } | null;
  /** What the run is pinned to: `id@version#fingerprint`. */
  readonly definitionKey: string | null;
  /** Of `stage:*` and `approval:*` events: the stage run, its key and its `@Stage` id. */
  readonly stage: { readonly runId: string; readonly key: string; readonly stage: string } | undefined;
  readonly ownerId: string | null;
  readonly subject: SubjectName | null;
  readonly actor: JsonText | null;
  readonly trace: string | null;
  /** When it was written, on the database's clock; ISO 8601. */
  readonly at: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Where delivered events go: the handlers of this process. */
export interface EventSink {
  /** Whether anything here would hear an event. */
  hasListeners(): boolean;
  /** Resolves when every handler has had the event; rejects when it has to be delivered again. */
  deliver(event: RelayedEvent): Promise<void>;
}

/** The events of a row, in the order they happened. */
export function eventsOf(row: OutboxRow): RelayedEvent[] {
  const events = decodeJson(row.events, `The events of outbox row ${row.id}`) as readonly EngineEvent[];
  const { subjectType, subjectId } = row;
  const subject = subjectType === null || subjectId === null ? null : { type: subjectType, id: subjectId };
  return events.map((event, at) => ({
    id: `${row.id}.${at}`,
    type: event.type,
    run: row.runId === null ? null : { id: row.runId, definition: row.definitionId, version: row.definitionVersion },
    definitionKey: row.definitionKey,
    stage:
      event.stageRunId === undefined
        ? undefined
        : { runId: event.stageRunId, key: event.node ?? '', stage: event.stage ?? '' },
    ownerId: row.ownerId,
    subject,
    actor: row.actor,
    trace: row.trace,
    at: row.createdAt,
    data: event.data ?? {},
  }));
}
