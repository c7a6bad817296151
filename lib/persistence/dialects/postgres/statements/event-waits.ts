import type { EventWait, StoredEvent } from '../../../../engine/ports/index.js';
import type { TableNames } from '../../../table-names.js';
import { clock, sameOwner } from '../sql.js';
import { subjectOf } from '../subject-columns.js';

export interface EventWaitRow {
  run_id: string;
  stage_run_id: string;
  key: string;
  owner_id: string | null;
  event_key: string;
  subject_type: string | null;
  subject_id: string | null;
  condition: string | null;
  overdue: boolean;
}

/** Columns of a wait for an event, of the ledger as `s`. $1 offset ms. */
export const WAIT_COLUMNS = `s.run_id, s.stage_run_id, s.key, s.owner_id, s.event_key, s.subject_type, s.subject_id, s.condition, coalesce(s.expires_at <= ${clock('$1')}, false) AS overdue`;

export const OPEN_EVENT_WAIT = `s.open AND s.kind = 'event'`;

export function eventWait(row: EventWaitRow): EventWait {
  return {
    runId: row.run_id,
    stageRunId: row.stage_run_id,
    key: row.key,
    ownerId: row.owner_id,
    eventKey: row.event_key,
    subject: subjectOf(row),
    where: row.condition,
    overdue: row.overdue,
  };
}

export interface EventRow {
  id: string;
  owner_id: string | null;
  key: string;
  subject_type: string | null;
  subject_id: string | null;
  payload: string;
  source: string | null;
}

/** Columns of an event, as `e`. */
export const EVENT_COLUMNS = `e.id, e.owner_id, e.key, e.subject_type, e.subject_id, e.payload::text AS payload, e.source::text AS source`;

export function storedEvent(row: EventRow): StoredEvent {
  const { id, owner_id: ownerId, key, payload, source } = row;
  return { id, ownerId, key, subject: subjectOf(row), payload, source };
}

/**
 * That a run has not had an event, in any of its waits (WAIT-3). Under the run's lock it stays so: who sets it holds that.
 *
 * OFFSET 0 keeps it a look-up in steps_event_id for each row. Made a join it read the whole ledger once statistics were
 * there: 100,000 pages for a page of one wait, where three do.
 */
export const notHad = (t: TableNames, event: string, run: string, wait: string): string =>
  `NOT EXISTS (SELECT 1 FROM ${t.steps} h WHERE h.event_id = ${event} AND h.run_id = ${run} AND ${sameOwner('h', wait)} OFFSET 0)`;
