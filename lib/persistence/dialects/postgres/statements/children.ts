import type { RunStatus } from '../../../../engine/state/statuses.js';
import type { Statement } from '../../../data-source/statement.js';
import type { TableNames } from '../../../table-names.js';
import { clock, ENDED, OPEN_RUN, sameOwner } from '../sql.js';
import { endOfChild } from './child-end.js';
import { resumeStageRuns } from './resume.js';

const UNTOLD = (child: string): string =>
  `${child}.parent_waits AND NOT ${child}.parent_told AND ${child}.status IN ${ENDED}`;

/**
 * First statement of delivering children: ended ones whose parents don't know, their parents locked. SKIP LOCKED below the limit, so
 * that children of a parent which somebody holds keep no others from the page. Through runs_child_ended, which is empty
 * but for moments. One whose parent is gone, or another owner's, is told to nobody. $1 limit.
 */
export function lockParents(t: TableNames): Statement {
  return {
    name: 'lock-parents',
    text: `
    WITH had AS MATERIALIZED (
      SELECT c.id FROM ${t.runs} c JOIN ${t.runs} p ON p.id = c.parent_run_id AND ${sameOwner('p', 'c')} WHERE ${UNTOLD('c')} ORDER BY c.id LIMIT $1 FOR NO KEY UPDATE OF p SKIP LOCKED),
    lone AS MATERIALIZED (
      SELECT c.id FROM ${t.runs} c WHERE ${UNTOLD('c')} AND NOT EXISTS (SELECT 1 FROM ${t.runs} p WHERE p.id = c.parent_run_id AND ${sameOwner('p', 'c')}) ORDER BY c.id LIMIT $1)
    SELECT id FROM had UNION ALL SELECT id FROM lone`,
  };
}

/**
 * Second statement, in a snapshot of its own: their ends reach the steps that still wait for them, and they count as delivered
 * whatever those were. A step that is awaited later finds the end by itself; one that waits for another child now,
 * since this one failed and its stage was retried, is left alone. Parent before child; a child that goes on again at this
 * moment, or is locked, is left to the next pass. $1 offset ms, $2 child ids.
 */
export function deliverChildren(t: TableNames): Statement {
  const now = clock('$1');
  return {
    name: 'deliver-children',
    text: `
    WITH c AS MATERIALIZED (
      SELECT c.id, c.owner_id, c.parent_run_id, c.parent_stage_run_id, c.parent_step, c.status, c.output, c.failure_code, c.failure_message, c.cancel_reason, c.finished_at
        FROM ${t.runs} c WHERE c.id = ANY ($2::uuid[]) AND ${UNTOLD('c')} ORDER BY c.id FOR NO KEY UPDATE SKIP LOCKED),
    placed AS (SELECT c.*, row_number() OVER (ORDER BY c.finished_at, c.id) AS nr FROM c),
    f AS (
      UPDATE ${t.steps} s SET ${endOfChild('c', `${now} + c.nr * interval '1 microsecond'`)}
        FROM placed c WHERE s.stage_run_id = c.parent_stage_run_id AND s.key = c.parent_step AND s.child_run_id = c.id AND s.run_id = c.parent_run_id
         AND ${sameOwner('s', 'c')} AND s.open AND s.kind = 'child' RETURNING s.stage_run_id, s.run_id, s.owner_id),
    told AS (UPDATE ${t.runs} r SET parent_told = true FROM c WHERE r.id = c.id RETURNING r.id),
    ${resumeStageRuns(t, 'f')}
    SELECT (SELECT count(*)::int FROM f) AS delivered, (SELECT count(*)::int FROM told) AS told`,
  };
}

export interface OrphanRow {
  id: string;
  parent_ended: RunStatus;
  terminated: boolean;
}

/**
 * Open runs whose parents ended while they waited for them, or whose parents' stage was cancelled alone (a branch that came too late). A mark whose parent lives is taken back: it was made in doubt, or its parent
 * goes on again, or it is another owner's; not while somebody holds the parent, who may be ending it. Never waits. $1 limit.
 */
export function findOrphans(t: TableNames): Statement {
  const left = (parent: string): string =>
    `EXISTS (SELECT 1 FROM ${t.stageRuns} s WHERE s.id = a.parent_stage_run_id AND s.run_id = a.parent_run_id AND ${sameOwner('s', 'a')} AND s.generation = ${parent}.generation AND s.status = 'CANCELLED')`;
  return {
    name: 'find-orphans',
    text: `
    WITH asked AS MATERIALIZED (
      SELECT r.id, r.parent_run_id, r.parent_stage_run_id, r.owner_id FROM ${t.runs} r WHERE r.cancel_asked AND r.status IN ${OPEN_RUN} ORDER BY r.id LIMIT $1),
    held AS MATERIALIZED (
      SELECT p.id, p.status, p.terminated, p.generation FROM ${t.runs} p
       WHERE p.id IN (SELECT parent_run_id FROM asked) AND EXISTS (SELECT 1 FROM asked a WHERE a.parent_run_id = p.id AND ${sameOwner('a', 'p')})
       ORDER BY p.id FOR SHARE SKIP LOCKED),
    spared AS MATERIALIZED (
      SELECT r.id FROM ${t.runs} r JOIN asked a ON a.id = r.id JOIN ${t.runs} q ON q.id = a.parent_run_id LEFT JOIN held p ON p.id = a.parent_run_id
       WHERE p.status IN ${OPEN_RUN} AND NOT ${left('p')} OR NOT (${sameOwner('q', 'a')}) FOR NO KEY UPDATE OF r SKIP LOCKED),
    cleared AS (UPDATE ${t.runs} r SET cancel_asked = false FROM spared s WHERE r.id = s.id)
    SELECT a.id, CASE WHEN e.status IN ${ENDED} THEN e.status ELSE 'CANCELLED' END AS parent_ended, coalesce(held.terminated, p.terminated) AS terminated
      FROM asked a JOIN ${t.runs} p ON p.id = a.parent_run_id AND ${sameOwner('p', 'a')} LEFT JOIN held ON held.id = p.id
     CROSS JOIN LATERAL (SELECT coalesce(held.status, p.status) AS status) e WHERE e.status IN ${ENDED} OR ${left('p')} ORDER BY a.id`,
  };
}
