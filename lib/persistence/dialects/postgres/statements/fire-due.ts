import type { Statement } from '../../../data-source/statement.js';
import type { TableNames } from '../../../table-names.js';
import { RowSet } from '../row-set.js';
import { clock, ENDED, milliseconds, OPEN_STAGE_RUN, sameOwner } from '../sql.js';
import { endOfChild } from './child-end.js';
import { OPEN_EVENT_WAIT } from './event-waits.js';
import { lyingSignals } from './lying-signals.js';
import { resumeStageRuns } from './resume.js';

export interface DueRow {
  sid: string;
  key: string;
}
const dueRows = new RowSet<DueRow>({ sid: 'uuid', key: 'text' });

/** What comes due by itself, and is not left to `fireTimeouts`: as steps_due says it. */
const isTimed = (s: string): string => `${s}.open AND ${s}.kind <> 'event'`;

/**
 * A page of waits whose time has come, longest due first, their runs locked. Through steps_due, row by row: what is not due is
 * never looked at, however much sleeps. LIMIT counts the rows whose run could be had, so that a run that somebody holds keeps none
 * of the others from the page. $1 offset ms, $2 ahead ms, $3 limit.
 */
export function lockDue(t: TableNames): Statement {
  return {
    name: 'lock-due',
    text: `
    SELECT s.stage_run_id AS sid, s.key
      FROM ${t.steps} s CROSS JOIN LATERAL (SELECT r.id FROM ${t.runs} r WHERE r.id = s.run_id FOR NO KEY UPDATE SKIP LOCKED) r
     WHERE ${isTimed('s')} AND s.due_at <= ${clock('$1')} + ${milliseconds('$2::float8')} ORDER BY s.due_at LIMIT $3`,
  };
}

export interface DueAnswer {
  timers: number;
  timeouts: number;
  polls: number;
  retries: number;
  resumed: number;
  ended: number;
  next_in: number | null;
  more: boolean;
}

/**
 * Ends the waits of a page, in a snapshot that follows the runs' locks: a stage that was suspended meanwhile goes on, one that
 * runs is only marked. What nobody awaits any more, since its run or its stage has ended, is cancelled.
 *
 * A signal that lies there goes before the end of its time, and so does the end of a child that came before it; that its parent knows
 * is marked by `deliverChildren`, which need not wait for anybody. Outcomes of one page stand in the order in which they were due.
 * $1 offset ms, $2 ahead ms.
 */
export function fireDue(t: TableNames): Statement {
  const now = clock('$1');
  const due = `${now} + ${milliseconds('$2::float8')}`;
  return {
    name: 'fire-due',
    text: `
    WITH d AS MATERIALIZED (SELECT * FROM ${dueRows.source('d', 3)}),
    w AS MATERIALIZED (
      SELECT s.stage_run_id, s.key, s.run_id, s.owner_id, s.kind, s.event_key, s.epoch, s.created_at, s.expires_at, s.child_run_id, d.nr,
             coalesce(r.status = 'RUNNING' AND g.status IN ${OPEN_STAGE_RUN}, false) AS awaited
        FROM d JOIN ${t.steps} s ON s.stage_run_id = d.sid AND s.key = d.key JOIN ${t.runs} r ON r.id = s.run_id LEFT JOIN ${t.stageRuns} g ON g.id = d.sid
       WHERE ${isTimed('s')} AND s.due_at <= ${due} FOR NO KEY UPDATE OF s SKIP LOCKED),
    answered AS MATERIALIZED (SELECT * FROM w WHERE awaited AND kind = 'signal'),
    ${lyingSignals(t, 'answered', now)},
    children AS MATERIALIZED (
      SELECT w.stage_run_id, w.key, w.nr, c.id, c.status, c.output, c.failure_code, c.failure_message, c.cancel_reason
        FROM w JOIN ${t.runs} c ON c.id = w.child_run_id WHERE w.awaited AND w.kind = 'child' AND ${sameOwner('c', 'w')} AND c.status IN ${ENDED} AND c.finished_at <= w.expires_at),
    delivered AS (
      UPDATE ${t.steps} s SET ${endOfChild('c', `${now} + c.nr * interval '1 microsecond'`)}
        FROM children c WHERE s.stage_run_id = c.stage_run_id AND s.key = c.key RETURNING s.stage_run_id, s.run_id, s.owner_id, s.kind, s.timed_out),
    f AS (
      UPDATE ${t.steps} s SET open = false, fired_at = ${now} + w.nr * interval '1 microsecond', result = coalesce(x.payload, s.result), event_id = coalesce(x.id, s.event_id),
             timed_out = w.awaited AND w.kind IN ('signal', 'child') AND x.id IS NULL,
             status = CASE WHEN NOT w.awaited OR w.kind = 'lease' THEN 'cancelled' WHEN w.kind IN ('sleep', 'signal', 'child') THEN 'completed' ELSE 'ready' END
        FROM w LEFT JOIN signals x ON x.stage_run_id = w.stage_run_id AND x.key = w.key
       WHERE s.stage_run_id = w.stage_run_id AND s.key = w.key AND (w.stage_run_id, w.key) NOT IN (SELECT stage_run_id, key FROM children)
      RETURNING s.stage_run_id, s.run_id, s.owner_id, w.kind, w.awaited, s.timed_out),
    go AS MATERIALIZED (
      SELECT stage_run_id, run_id, owner_id, kind, timed_out FROM f WHERE awaited UNION ALL SELECT stage_run_id, run_id, owner_id, kind, timed_out FROM delivered),
    ${resumeStageRuns(t, 'go')}
    SELECT count(*) FILTER (WHERE kind = 'sleep')::int AS timers, count(*) FILTER (WHERE timed_out)::int AS timeouts,
           count(*) FILTER (WHERE kind IN ('poll', 'completion'))::int AS polls, count(*) FILTER (WHERE kind IN ('run', 'once', 'transaction', 'lease'))::int AS retries,
           (SELECT count(*)::int FROM resumed) AS resumed,
           (SELECT count(*)::int FROM w) AS ended,
           (SELECT (extract(epoch FROM least(
              (SELECT s.due_at FROM ${t.steps} s WHERE ${isTimed('s')} AND s.due_at > ${due} ORDER BY s.due_at LIMIT 1),
              (SELECT s.due_at FROM ${t.steps} s WHERE ${OPEN_EVENT_WAIT} AND s.due_at > ${due} ORDER BY s.due_at LIMIT 1)) - (${due})) * 1000)::float8) AS next_in,
           EXISTS (SELECT 1 FROM (SELECT s.stage_run_id, s.key, s.run_id FROM ${t.steps} s WHERE ${isTimed('s')} AND s.due_at <= ${due}
                                   ORDER BY s.due_at LIMIT (SELECT count(*) + 1 FROM d)) first
                    WHERE (first.stage_run_id, first.key) NOT IN (SELECT stage_run_id, key FROM w) AND EXISTS (SELECT 1 FROM ${t.runs} r WHERE r.id = first.run_id)) AS more
      FROM go`,
  };
}

export const fireDueValues = (offsetMs: number, aheadMs: number, rows: readonly DueRow[]): unknown[] => [
  offsetMs,
  aheadMs,
  ...dueRows.values(rows),
];
