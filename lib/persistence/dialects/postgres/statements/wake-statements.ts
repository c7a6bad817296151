import type { Statement } from '../../../data-source/statement.js';
import type { TableNames } from '../../../table-names.js';
import {
  CLAIMED,
  clock,
  DELAYED,
  DUE,
  ENDED,
  isEscalated,
  milliseconds,
  OPEN_RUN,
  sameOwner,
  SENT,
  slotOf,
} from '../sql.js';
import { overLease } from './over-lease.js';
import { movesItsRun } from './read-statements.js';

export interface ProbeRow {
  expired_leases: boolean;
  delayed_due: boolean;
  next_delayed: number | null;
  deadline_due: boolean;
  sent_overdue: boolean;
  outbox_due: boolean;
  stuck_suspects: boolean;
  waits_due: boolean;
  next_wait: number | null;
  schedules_due: boolean;
  next_schedule: number | null;
  event_waits_overdue: boolean;
  unmatched: boolean;
  children_ended: boolean;
  orphans: boolean;
  expired_events: boolean;
  expired_keys: boolean;
}

/** How long an event, or a wait for one, is left to whoever wrote it: they match it as soon as it is written. */
const UNMATCHED_AFTER_MS = 5_000;
/** How many of the oldest open runs are asked whether they wait. */
const SUSPECTS = 16;

/**
 * One statement that says which parts of a wake pass have work: an idle pass costs this and nothing more (WAKE-6). Each
 * question is one index look-up, whatever sleeps.
 *
 * But for suspects: whether a run waits is known of it alone, so the oldest few are asked, and where all of those wait and are
 * old, the search has to look further, a slice in a pass.
 * $1 offset, $2 stale, $3 cap, $4 stuck after, $5 ahead, $6 requeue after, $7 retention of events: all ms.
 */
export function probe(t: TableNames): Statement {
  const now = clock('$1');
  const due = `${now} + ${milliseconds('$5::float8')}`;
  const settled = `${now} - interval '${UNMATCHED_AFTER_MS} milliseconds'`;
  return {
    name: 'probe',
    text: `
    SELECT EXISTS (SELECT 1 FROM ${t.jobs} j WHERE j.state = ${CLAIMED} AND ${overLease(now, 'j')}) AS expired_leases,
           coalesce(next.run_at <= ${due}, false) AS delayed_due,
           (extract(epoch FROM next.run_at - (${due})) * 1000)::float8 AS next_delayed,
           EXISTS (SELECT 1 FROM ${t.runs} WHERE deadline_at IS NOT NULL AND status IN ${OPEN_RUN} AND deadline_at <= ${due}) AS deadline_due,
           EXISTS (SELECT 1 FROM ${t.jobs} WHERE state = ${SENT} AND sent_at <= ${now} - ${milliseconds('$6::float8')}) AS sent_overdue,
           EXISTS (SELECT 1 FROM ${t.outbox} WHERE state = 0) AS outbox_due,
           (SELECT coalesce(bool_or(o.old AND NOT EXISTS (SELECT 1 FROM ${t.steps} w WHERE w.run_id = o.id AND ${sameOwner('w', 'o')} AND w.open)) OR count(*) = ${SUSPECTS} AND bool_and(o.old), false)
              FROM (SELECT id, owner_id, created_at < ${now} - ${milliseconds('$4::float8')} AS old FROM ${t.runs} WHERE status IN ${OPEN_RUN} ORDER BY id LIMIT ${SUSPECTS}) o) AS stuck_suspects,
           coalesce(next.due_at <= ${due}, false) AS waits_due,
           (extract(epoch FROM least(next.due_at, next.event_due_at) - (${due})) * 1000)::float8 AS next_wait,
           coalesce(next.schedule_at <= ${due}, false) AS schedules_due,
           (extract(epoch FROM next.schedule_at - (${due})) * 1000)::float8 AS next_schedule,
           coalesce(next.event_due_at <= ${due}, false) AS event_waits_overdue,
           EXISTS (SELECT 1 FROM ${t.events} WHERE NOT matched AND run_id IS NULL AND created_at <= ${settled})
             OR EXISTS (SELECT 1 FROM ${t.steps} WHERE open AND kind = 'event' AND NOT checked AND created_at <= ${settled}) AS unmatched,
           EXISTS (SELECT 1 FROM ${t.runs} WHERE parent_waits AND NOT parent_told AND status IN ${ENDED}) AS children_ended,
           EXISTS (SELECT 1 FROM ${t.runs} WHERE cancel_asked AND status IN ${OPEN_RUN}) AS orphans,
           coalesce((SELECT created_at FROM ${t.events} ORDER BY created_at LIMIT 1) < ${now} - ${milliseconds('$7::float8')}, false) AS expired_events,
           EXISTS (SELECT 1 FROM ${t.idempotencyKeys} WHERE expires_at <= ${now}) AS expired_keys
      FROM (SELECT (SELECT run_at FROM ${t.jobs} WHERE state = ${DELAYED} ORDER BY run_at LIMIT 1) AS run_at,
                   (SELECT next_at FROM ${t.triggers} WHERE next_at IS NOT NULL ORDER BY next_at LIMIT 1) AS schedule_at,
                   (SELECT due_at FROM ${t.steps} WHERE open AND kind <> 'event' ORDER BY due_at LIMIT 1) AS due_at,
                   (SELECT due_at FROM ${t.steps} WHERE open AND kind = 'event' ORDER BY due_at LIMIT 1) AS event_due_at) next`,
  };
}

export interface PromotedRow {
  promoted: number;
  retries: number;
  escalations: number;
  next_in: number | null;
}

/**
 * Delayed jobs whose time has come become due; PENDING runs among theirs RUNNING, run rows first. Jobs of a PENDING run that
 * could not be locked wait for the next pass; one that is another owner's begins nothing, and is left to the claim, which removes it. $1 offset ms, $2 ahead ms, $3 limit.
 */
export function promoteDelayed(t: TableNames): Statement {
  const now = clock('$1');
  const due = `${now} + ${milliseconds('$2::float8')}`;
  return {
    name: 'promote-delayed',
    text: `
    WITH du AS MATERIALIZED (SELECT id, run_id, owner_id FROM ${t.jobs} WHERE state = ${DELAYED} AND run_at <= ${due} ORDER BY run_at LIMIT $3),
    fair AS MATERIALIZED (SELECT r.id FROM du JOIN ${t.runs} r ON r.id = du.run_id AND ${sameOwner('r', 'du')}),
    pe AS MATERIALIZED (
      SELECT id FROM ${t.runs} WHERE id IN (SELECT id FROM fair) AND status = 'PENDING' ORDER BY id FOR NO KEY UPDATE SKIP LOCKED),
    ru AS (
      UPDATE ${t.runs} r SET status = 'RUNNING', started_at = ${now}, version = r.version + 1 FROM pe WHERE r.id = pe.id RETURNING r.id, r.owner_id),
    ok AS MATERIALIZED (
      SELECT j.id FROM ${t.jobs} j JOIN du ON du.id = j.id JOIN ${t.runs} r ON r.id = du.run_id LEFT JOIN ru ON ru.id = du.run_id
       WHERE j.state = ${DELAYED} AND (r.status <> 'PENDING' OR ru.id IS NOT NULL OR NOT (${sameOwner('r', 'du')})) FOR UPDATE OF j SKIP LOCKED),
    pj AS (UPDATE ${t.jobs} j SET state = ${DUE} FROM ok WHERE j.id = ok.id RETURNING j.attempt, j.stage_run_id),
    told AS (
      INSERT INTO ${t.outbox} (run_id, owner_id, slot, events, created_at)
      SELECT ru.id, ru.owner_id, ${slotOf('ru.id')}, '[{"type":"run:started"}]'::json, ${now} FROM ru)
    SELECT (SELECT count(*)::int FROM pj) AS promoted, (SELECT count(*)::int FROM pj WHERE attempt > 0) AS retries,
           (SELECT count(*)::int FROM pj JOIN ${t.stageRuns} s ON s.id = pj.stage_run_id WHERE pj.attempt = 0 AND ${isEscalated('s')}) AS escalations,
           (SELECT (extract(epoch FROM run_at - (${due})) * 1000)::float8 FROM ${t.jobs} WHERE state = ${DELAYED} AND run_at > ${due} ORDER BY run_at LIMIT 1) AS next_in`,
  };
}

export interface StuckRow {
  id: string;
  suspect: boolean;
}

/** A slice of unfinished runs in id order, each with whether it looks stuck: nothing of it moves, is to be done or waits. $1 offset ms, $2 stuck after ms, $3 after id, $4 limit. */
export function findStuck(t: TableNames): Statement {
  const now = clock('$1');
  return {
    name: 'find-stuck',
    text: `
    SELECT r.id, r.status = 'RUNNING' AND r.moved < ${now} - ${milliseconds('$2::float8')}
           AND NOT EXISTS (SELECT 1 FROM ${t.jobs} j WHERE j.run_id = r.id AND ${sameOwner('j', 'r')} AND ${movesItsRun(t, 'j')})
           AND NOT EXISTS (SELECT 1 FROM ${t.steps} w WHERE w.run_id = r.id AND ${sameOwner('w', 'r')} AND w.open)
           AND coalesce((SELECT max(greatest(s.created_at, s.started_at, s.finished_at)) FROM ${t.stageRuns} s WHERE s.run_id = r.id AND ${sameOwner('s', 'r')}) < ${now} - ${milliseconds('$2::float8')}, true) AS suspect
      FROM (SELECT id, owner_id, status, coalesce(started_at, created_at) AS moved FROM ${t.runs}
             WHERE status IN ${OPEN_RUN} AND ($3::uuid IS NULL OR id > $3::uuid) ORDER BY id LIMIT $4) r
     ORDER BY r.id`,
  };
}

/** Unfinished runs past their deadline. $1 offset ms, $2 ahead ms, $3 limit. */
export function findOverdue(t: TableNames): Statement {
  return {
    name: 'find-overdue',
    text: `SELECT id FROM ${t.runs} WHERE deadline_at IS NOT NULL AND status IN ${OPEN_RUN} AND deadline_at <= ${clock('$1')} + ${milliseconds('$2::float8')} ORDER BY deadline_at LIMIT $3`,
  };
}

/**
 * Start keys whose time is over. As a sub-query of the DELETE the page might be taken again for each row, past its limit, whenever the
 * planner takes the table for small. $1 offset ms, $2 limit.
 */
export function pruneKeys(t: TableNames): Statement {
  return {
    name: 'prune-keys',
    text: `
    WITH old AS MATERIALIZED (
      SELECT digest FROM ${t.idempotencyKeys} WHERE expires_at <= ${clock('$1')} ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED),
    gone AS (DELETE FROM ${t.idempotencyKeys} k USING old WHERE k.digest = old.digest RETURNING 1)
    SELECT count(*)::int AS pruned FROM gone`,
  };
}
