import type { Statement } from '../../../data-source/statement.js';
import type { TableNames } from '../../../table-names.js';
import { clock, isoText, milliseconds } from '../sql.js';
import { EVENT_COLUMNS, type EventRow, OPEN_EVENT_WAIT, WAIT_COLUMNS } from './event-waits.js';
import { nameRows } from './fire-events.js';

/** `at`: where the next page begins, with the id. */
export type UnmatchedRow = EventRow & { at: string };

/**
 * Events whose matching is not known to have ended, oldest first, through events_unmatched, which knows no id: of those of one instant
 * it reads all. $1 offset ms, $2 older than ms, $3 after instant, $4 after id, $5 limit.
 */
export function unmatchedEvents(t: TableNames): Statement {
  return {
    name: 'unmatched-events',
    text: `
    SELECT ${EVENT_COLUMNS}, ${isoText('e.created_at')} AS at FROM ${t.events} e
     WHERE NOT e.matched AND e.run_id IS NULL AND e.created_at <= ${clock('$1')} - ${milliseconds('$2::float8')} AND (e.created_at, e.id) > ($3::timestamptz, $4::uuid)
     ORDER BY e.created_at, e.id LIMIT $5`,
  };
}

/** SKIP LOCKED: who holds one is marking it too, or removing it; else it only comes again. $1 event ids. */
export function markMatched(t: TableNames): Statement {
  return {
    name: 'mark-matched',
    text: `
    WITH lk AS MATERIALIZED (SELECT id FROM ${t.events} WHERE id = ANY ($1::uuid[]) AND NOT matched FOR NO KEY UPDATE SKIP LOCKED),
    up AS (UPDATE ${t.events} e SET matched = true FROM lk WHERE e.id = lk.id RETURNING e.id)
    SELECT count(*)::int AS marked FROM up`,
  };
}

/** Waits that stored events have not been looked up for: those of some stage runs. $1 offset ms, $2 stage run ids, $3 limit. */
export function uncheckedWaits(t: TableNames): Statement {
  return {
    name: 'unchecked-waits',
    text: `
    SELECT ${WAIT_COLUMNS} FROM ${t.steps} s WHERE s.stage_run_id = ANY ($2::uuid[]) AND ${OPEN_EVENT_WAIT} AND NOT s.checked
     ORDER BY s.created_at, s.stage_run_id, s.key LIMIT $3`,
  };
}

/**
 * Behind the wait $n, $n+1. Its instant is looked up, once: a text of it would have been rounded. The first column of an index is all that
 * the order needs; of those of one instant all are read.
 */
const behind = (t: TableNames, column: string, stageRunId: string, key: string): string =>
  `(s.${column}, s.stage_run_id, s.key) > (coalesce((SELECT b.${column} FROM ${t.steps} b WHERE b.stage_run_id = ${stageRunId}::uuid AND b.key = ${key}), '-infinity'), ${stageRunId}::uuid, ${key})`;

/** The same of anybody, oldest first, through steps_unchecked. $1 offset ms, $2 older than ms, $3 stage run id and $4 key to begin behind, $5 limit. */
export function olderUncheckedWaits(t: TableNames): Statement {
  return {
    name: 'older-unchecked-waits',
    text: `
    SELECT ${WAIT_COLUMNS} FROM ${t.steps} s WHERE ${OPEN_EVENT_WAIT} AND NOT s.checked AND s.created_at <= ${clock('$1')} - ${milliseconds('$2::float8')} AND ${behind(t, 'created_at', '$3', '$4')}
     ORDER BY s.created_at, s.stage_run_id, s.key LIMIT $5`,
  };
}

/** SKIP LOCKED: a wait that is ending needs no mark, another one comes again. */
export function markChecked(t: TableNames): Statement {
  return {
    name: 'mark-checked',
    text: `
    WITH d AS MATERIALIZED (SELECT * FROM ${nameRows.source('d', 1)}),
    lk AS MATERIALIZED (
      SELECT s.stage_run_id, s.key FROM d JOIN ${t.steps} s ON s.stage_run_id = d.sid AND s.key = d.key
       WHERE ${OPEN_EVENT_WAIT} AND NOT s.checked FOR NO KEY UPDATE OF s SKIP LOCKED),
    up AS (UPDATE ${t.steps} s SET checked = true FROM lk WHERE s.stage_run_id = lk.stage_run_id AND s.key = lk.key RETURNING 1)
    SELECT count(*)::int AS marked FROM up`,
  };
}

/** Waits for events past their limit, through steps_event_due. $1 offset ms, $2 ahead ms, $3 stage run id and $4 key to begin behind, $5 limit. */
export function overdueEventWaits(t: TableNames): Statement {
  return {
    name: 'overdue-event-waits',
    text: `
    SELECT ${WAIT_COLUMNS} FROM ${t.steps} s WHERE ${OPEN_EVENT_WAIT} AND s.due_at <= ${clock('$1')} + ${milliseconds('$2::float8')} AND ${behind(t, 'due_at', '$3', '$4')}
     ORDER BY s.due_at, s.stage_run_id, s.key LIMIT $5`,
  };
}

/** Events, and signals that nobody took, kept long enough. $1 offset ms, $2 retention ms, $3 limit. */
export function pruneEvents(t: TableNames): Statement {
  return {
    name: 'prune-events',
    text: `
    WITH old AS MATERIALIZED (
      SELECT id FROM ${t.events} WHERE created_at < ${clock('$1')} - ${milliseconds('$2::float8')} ORDER BY created_at LIMIT $3 FOR UPDATE SKIP LOCKED),
    gone AS (DELETE FROM ${t.events} e USING old WHERE e.id = old.id RETURNING 1)
    SELECT count(*)::int AS pruned FROM gone`,
  };
}
