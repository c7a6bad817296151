import type { SuspendRecord } from '../../../../engine/ports/index.js';
import type { Statement } from '../../../data-source/statement.js';
import type { TableNames } from '../../../table-names.js';
import { RowSet } from '../row-set.js';
import { clock, DUE, sameOwner, slotOf } from '../sql.js';
import { standingAnswers } from './standing-answers.js';
import { hasOutcome, heldByAnother } from './step-state.js';

interface HeadRow {
  sid: string;
  token: string;
  jid: string;
  touches: number;
  events: string | null;
}
interface KeepRow {
  w: number;
  key: string;
}
const headRows = new RowSet<HeadRow>({ sid: 'uuid', token: 'uuid', jid: 'uuid', touches: 'int', events: 'json' });
const keepRows = new RowSet<KeepRow>({ w: 'int', key: 'text' });

export interface AsleepRow {
  suspended: boolean;
  due_in: number | null;
}

/**
 * Last statement of a suspend: what the stage waits for may be there already. A snapshot of its own, after the waits were
 * written: it sees what came while the stage ran, and whatever comes later finds the waits, since both hold the run's lock.
 *
 * Marks are outcomes without a place among what is still awaited, signals that lie there, children that have ended and whose rows
 * could be had at once (the others are delivered by the pass), waits for a lease that is no more, and polls of a run that was touched since its claim. With a mark the stage run is
 * PENDING and its job due at once; without one it is SUSPENDED, and queue and cap of its job stay with it. $1 offset ms.
 */
export function fallAsleep(t: TableNames): Statement {
  const now = clock('$1');
  return {
    name: 'fall-asleep',
    text: `
    WITH h AS MATERIALIZED (
      SELECT x.*, s.run_id, s.owner_id, j.queue, j.cap_ms, r.touches <> x.touches AS touched
        FROM ${headRows.source('x', 2)} JOIN ${t.stageRuns} s ON s.id = x.sid AND s.claim_token = x.token JOIN ${t.runs} r ON r.id = s.run_id JOIN ${t.jobs} j ON j.id = x.jid AND j.claim_token = x.token),
    k AS MATERIALIZED (SELECT h.sid, k.key FROM ${keepRows.source('k', 2 + headRows.width)} JOIN h ON h.nr = k.w),
    row AS MATERIALIZED (
      SELECT s.*, h.token AS own FROM ${t.steps} s JOIN h ON h.sid = s.stage_run_id AND ${sameOwner('s', 'h')}
       WHERE s.open OR s.status = 'running' OR (s.stage_run_id, s.key) IN (SELECT sid, key FROM k)),
    waits AS MATERIALIZED (SELECT * FROM row WHERE open),
    ${standingAnswers(t, 'waits', now)},
    leases AS MATERIALIZED (
      SELECT w.stage_run_id, w.key FROM waits w
       WHERE w.kind = 'lease' AND NOT EXISTS (SELECT 1 FROM row b WHERE b.stage_run_id = w.stage_run_id AND ${heldByAnother('b', 'b.own', now)})),
    polls AS MATERIALIZED (SELECT w.stage_run_id, w.key FROM waits w JOIN h ON h.sid = w.stage_run_id WHERE w.kind = 'poll' AND h.touched),
    asked AS (
      UPDATE ${t.steps} s SET status = 'ready', open = false, fired_at = ${now} FROM polls p WHERE s.stage_run_id = p.stage_run_id AND s.key = p.key),
    freed AS (
      UPDATE ${t.steps} s SET status = 'cancelled', open = false, fired_at = ${now} FROM leases l WHERE s.stage_run_id = l.stage_run_id AND s.key = l.key),
    ended AS MATERIALIZED (
      SELECT stage_run_id, key FROM signals UNION ALL SELECT stage_run_id, key FROM children UNION ALL SELECT stage_run_id, key FROM leases
      UNION ALL SELECT stage_run_id, key FROM polls),
    marks AS MATERIALIZED (
      SELECT stage_run_id FROM ended UNION
      SELECT s.stage_run_id FROM row s JOIN k ON k.sid = s.stage_run_id AND k.key = s.key WHERE s.seq IS NULL AND (${hasOutcome('s')} OR s.status = 'ready')),
    moved AS (
      UPDATE ${t.stageRuns} s SET status = CASE WHEN m.stage_run_id IS NULL THEN 'SUSPENDED' ELSE 'PENDING' END, finished_at = NULL, claim_token = NULL,
             queue = h.queue, cap_ms = h.cap_ms, resumed = m.stage_run_id IS NOT NULL, resumes = s.resumes + (m.stage_run_id IS NOT NULL)::int, version = s.version + 1
        FROM h LEFT JOIN marks m ON m.stage_run_id = h.sid WHERE s.id = h.sid),
    again AS (
      UPDATE ${t.jobs} j SET state = ${DUE}, claim_token = NULL, locked_by = NULL, locked_at = NULL, started_at = NULL
        FROM h JOIN marks m ON m.stage_run_id = h.sid WHERE j.id = h.jid),
    gone AS (DELETE FROM ${t.jobs} j USING h WHERE j.id = h.jid AND h.sid NOT IN (SELECT stage_run_id FROM marks)),
    told AS (
      INSERT INTO ${t.outbox} (run_id, owner_id, slot, events, created_at)
      SELECT h.run_id, h.owner_id, ${slotOf('h.run_id')}, h.events, ${now}
        FROM h WHERE h.events IS NOT NULL AND h.sid NOT IN (SELECT stage_run_id FROM marks) ORDER BY h.nr)
    SELECT m.stage_run_id IS NULL AS suspended,
           CASE WHEN m.stage_run_id IS NULL THEN (SELECT (extract(epoch FROM min(w.due_at) - ${now}) * 1000)::float8 FROM waits w WHERE w.stage_run_id = h.sid) END AS due_in
      FROM h LEFT JOIN marks m ON m.stage_run_id = h.sid ORDER BY h.nr`,
  };
}

export function asleepValues(offsetMs: number, records: readonly SuspendRecord[]): unknown[] {
  return [
    offsetMs,
    ...headRows.values(
      records.map(({ lease, touches, events }) => ({
        sid: lease.stageRunId,
        token: lease.token,
        jid: lease.jobId,
        touches,
        events: events.length > 0 ? JSON.stringify(events) : null,
      })),
    ),
    ...keepRows.values(
      records.flatMap(({ keep, waits }, index) =>
        [...keep, ...waits.map(({ key }) => key)].map((key) => ({ w: index + 1, key })),
      ),
    ),
  ];
}
