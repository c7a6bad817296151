import type { Statement } from '../../../data-source/statement.js';
import type { TableNames } from '../../../table-names.js';
import {
  clock,
  DELAYED,
  DUE,
  ENDED,
  EXECUTE,
  milliseconds,
  OPEN_RUN,
  OPEN_STAGE_RUN,
  sameOwner,
  slotOf,
} from '../sql.js';
import { rowsOf } from './transition-rows.js';

/** A run that a transition has ended. */
export interface AppliedRow {
  id: string;
  status: string;
  awaited: boolean;
  child: boolean;
}

/** A column of a run that only a change of its status touches. */
const unlessSame = (column: string, value: string): string =>
  `${column} = CASE WHEN c.status IS NULL THEN r.${column} ELSE ${value} END`;

/**
 * A visit may be left, by an edge that is kept with it, in the very walk that fails the run. Of two updates of one row in one statement
 * PostgreSQL makes either: such a row is none of the cascade's.
 */
const isLeft = (stageRun: string): string => `EXISTS (SELECT 1 FROM ${rowsOf('left', 'x')} WHERE x.id = ${stageRun})`;

/**
 * Writes transitions of runs whose locks this transaction holds already: run changes, cascades (waits and rounds of approval with them), generations, new stage runs, jobs,
 * counters, events. One statement for any number of runs.
 *
 * A cascade has to be a statement of its own after the lock: in the locking statement's snapshot it would miss the row that
 * a record inserted while the lock was waited for (protocols, section 1). It marks the children that were waited for, parent
 * before child; who cancels them finds the marks (CANCEL-3). A run that goes on again is nobody's orphan, and its parent has
 * not been told its end. A rerun has its deadline from now on: the old one may have passed long ago.
 *
 * The outbox ids are drawn here, after the lock, so that they follow commit order per run. New jobs stand in the queue where
 * their run stands: its priority, its enqueue time; those with a delay where their time does.
 */
export function applyTransitions(t: TableNames): Statement {
  const now = clock('$1');
  return {
    name: 'apply-transitions',
    text: `
    WITH c AS MATERIALIZED (SELECT * FROM ${rowsOf('runs', 'c')}),
    lk AS MATERIALIZED (
      SELECT r.id, r.owner_id, r.generation AS earlier, CASE WHEN c.rerun THEN r.generation + 1 ELSE r.generation END AS generation, r.priority,
             coalesce(r.start_at, r.created_at) AS enqueued_at, coalesce(c.definition_key, r.definition_key) AS definition_key
        FROM c JOIN ${t.runs} r ON r.id = c.id),
    ru AS (
      UPDATE ${t.runs} r SET status = coalesce(c.status, r.status), version = r.version + 1, generation = lk.generation,
             definition_version = coalesce(c.definition_version, r.definition_version), definition_key = lk.definition_key,
             output = CASE WHEN c.status = 'COMPLETED' THEN c.output WHEN c.status = 'RUNNING' THEN NULL ELSE r.output END,
             ${unlessSame('failure_code', 'c.code')}, ${unlessSame('failure_message', 'c.message')}, ${unlessSame('failure_params', 'c.params')},
             ${unlessSame('failed_node', 'c.node')}, ${unlessSame('cancel_reason', 'c.reason')}, ${unlessSame('terminated', 'c.terminated')},
             ${unlessSame('finished_at', `CASE WHEN c.status IN ${ENDED} THEN ${now} END`)},
             parent_told = r.parent_told AND c.status IS DISTINCT FROM 'RUNNING', cancel_asked = r.cancel_asked AND c.status IS DISTINCT FROM 'RUNNING',
             deadline_at = CASE WHEN c.rerun THEN ${now} + (r.deadline_at - lk.enqueued_at) ELSE r.deadline_at END
        FROM c JOIN lk ON lk.id = c.id WHERE r.id = c.id AND (c.status IS NOT NULL OR c.rerun OR c.definition_key IS NOT NULL)
      RETURNING r.id, r.status, r.awaited, r.parent_waits AS child, c.status IN ${ENDED} AS ended),
    cs AS (
      UPDATE ${t.stageRuns} s SET status = 'CANCELLED', finished_at = ${now}, version = s.version + 1
        FROM c JOIN lk ON lk.id = c.id WHERE s.run_id = c.id AND c.cascade AND s.status IN ${OPEN_STAGE_RUN} AND NOT ${isLeft('s.id')}),
    cw AS (UPDATE ${t.steps} w SET status = 'cancelled', open = false FROM c WHERE w.run_id = c.id AND c.cascade AND w.open AND NOT ${isLeft('w.stage_run_id')}),
    ls AS (
      UPDATE ${t.stageRuns} s SET status = 'CANCELLED', outcome = l.outcome, finished_at = ${now}, version = s.version + 1
        FROM ${rowsOf('left', 'l')} WHERE s.id = l.id AND s.run_id = l.rid AND s.status IN ${OPEN_STAGE_RUN}),
    lw AS (UPDATE ${t.steps} w SET status = 'cancelled', open = false FROM ${rowsOf('left', 'l')} WHERE w.stage_run_id = l.id AND w.run_id = l.rid AND w.open),
    cr AS (UPDATE ${t.approvalRounds} a SET status = 'cancelled', ended_at = ${now} FROM c WHERE a.run_id = c.id AND c.cascade AND a.status = 'open' AND NOT ${isLeft('a.stage_run_id')} RETURNING a.id),
    lr AS (
      UPDATE ${t.approvalRounds} a SET status = 'cancelled', ended_at = ${now} FROM ${rowsOf('left', 'l')}
       WHERE a.stage_run_id = l.id AND a.run_id = l.rid AND a.status = 'open' RETURNING a.id),
    ca AS (UPDATE ${t.approvalAsks} k SET open = false FROM (SELECT id FROM cr UNION ALL SELECT id FROM lr) x WHERE k.round_id = x.id AND k.open),
    lj AS (DELETE FROM ${t.jobs} j USING ${rowsOf('left', 'l')} WHERE j.stage_run_id = l.id AND j.run_id = l.rid AND j.kind = ${EXECUTE}),
    cc AS (
      UPDATE ${t.runs} child SET cancel_asked = true FROM c JOIN lk ON lk.id = c.id
       WHERE child.parent_run_id = c.id AND ${sameOwner('child', 'lk')} AND (c.cascade OR child.parent_stage_run_id IN (SELECT l.id FROM ${rowsOf('left', 'l')}))
         AND child.parent_waits AND NOT child.cancel_asked AND child.status IN ${OPEN_RUN}),
    cj AS (DELETE FROM ${t.jobs} j USING c WHERE j.run_id = c.id AND c.cascade AND j.kind = ${EXECUTE}),
    mj AS (
      UPDATE ${t.jobs} j SET definition_key = c.definition_key FROM c
       WHERE j.run_id = c.id AND c.definition_key IS NOT NULL AND NOT (c.cascade AND j.kind = ${EXECUTE})),
    ks AS (
      UPDATE ${t.stageRuns} s SET generation = lk.generation, version = s.version + 1
        FROM ${rowsOf('kept', 'k')} JOIN lk ON lk.id = k.rid WHERE s.id = k.id AND s.run_id = k.rid),
    kv AS (
      UPDATE ${t.nodeVisits} v SET generation = lk.generation FROM lk
       WHERE v.run_id = lk.id AND v.generation = lk.earlier AND lk.generation > lk.earlier
         AND EXISTS (SELECT 1 FROM ${rowsOf('kept', 'k')} JOIN ${t.stageRuns} s ON s.id = k.id WHERE s.run_id = v.run_id AND s.node = v.node AND s.visit = v.visit)
         AND NOT EXISTS (SELECT 1 FROM ${rowsOf('visits', 'n')} WHERE n.rid = v.run_id AND n.node = v.node AND n.visit = v.visit)),
    ns AS (
      INSERT INTO ${t.stageRuns} (id, run_id, owner_id, generation, node, position, key, stage, visit, ordinal, status, skip_reason, error_code, error_message, output, outcome, created_at, finished_at)
      SELECT n.id, n.rid, lk.owner_id, lk.generation, n.node, n.position, n.key, n.stage, n.visit, n.ordinal, n.status, n.skip_reason, n.code, n.message, n.output, n.outcome, ${now},
             CASE WHEN n.status <> 'PENDING' THEN ${now} END
        FROM ${rowsOf('stageRuns', 'n')} JOIN lk ON lk.id = n.rid),
    nj AS (
      INSERT INTO ${t.jobs} (id, kind, run_id, stage_run_id, owner_id, definition_key, queue, priority, run_at, state, cap_ms, created_at)
      SELECT j.id, j.kind, j.rid, j.sid, lk.owner_id, lk.definition_key, j.queue, lk.priority,
             CASE WHEN j.delay > 0 THEN greatest(lk.enqueued_at, ${now}) + ${milliseconds('j.delay')} ELSE lk.enqueued_at END,
             CASE WHEN j.delay > 0 THEN ${DELAYED} ELSE ${DUE} END, j.cap, ${now}
        FROM ${rowsOf('jobs', 'j')} JOIN lk ON lk.id = j.rid),
    ag AS (
      UPDATE ${t.stageRuns} s SET status = 'PENDING', claim_token = NULL, finished_at = NULL, version = s.version + 1,
             budget_from = CASE WHEN a.reopened THEN s.attempt ELSE s.budget_from END, losses = CASE WHEN a.reopened THEN 0 ELSE s.losses END,
             requeues = CASE WHEN a.reopened THEN 0 ELSE s.requeues + 1 END,
             resumed = NOT a.reopened AND (s.status = 'SUSPENDED' OR s.status = 'PENDING' AND s.resumed),
             resumes = CASE WHEN NOT a.reopened AND s.status = 'SUSPENDED' THEN s.resumes + 1 ELSE s.resumes END
        FROM ${rowsOf('again', 'a')} WHERE s.id = a.id),
    nv AS (
      INSERT INTO ${t.nodeVisits} (run_id, owner_id, generation, node, visit, open)
      SELECT v.rid, lk.owner_id, lk.generation, v.node, v.visit, v.open FROM ${rowsOf('visits', 'v')} JOIN lk ON lk.id = v.rid
          ON CONFLICT (run_id, generation, node, visit) DO UPDATE SET open = EXCLUDED.open, owner_id = EXCLUDED.owner_id),
    told AS (
      INSERT INTO ${t.outbox} (run_id, owner_id, slot, events, created_at)
      SELECT e.rid, lk.owner_id, ${slotOf('e.rid')}, e.events, ${now} FROM ${rowsOf('events', 'e')} JOIN lk ON lk.id = e.rid ORDER BY e.nr)
    SELECT id, status, awaited, child FROM ru WHERE ended`,
  };
}
