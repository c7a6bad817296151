import type { RunStatus } from '../../../../engine/state/statuses.js';
import type { Statement } from '../../../data-source/statement.js';
import type { TableNames } from '../../../table-names.js';
import { clock, ENDED, OPEN_RUN } from '../sql.js';
import { endOfChild } from './child-end.js';
import { resumeStageRuns } from './resume.js';

const UNTOLD = (child: string): string =>
  `${child}.parent_waits AND NOT ${child}.parent_told AND ${child}.status IN ${ENDED}`;

/**
 * First statement of delivering children: ended ones whose parents don't know, their parents locked. SKIP LOCKED below the limit, so
 * that children of a parent which somebody holds keep no others from the page. Through runs_child_ended, which is empty
 * but for moments. One whose parent is gone is told to nobody. $1 limit.
 */
export function lockParents(t: TableNames): Statement {
  return {
    name: 'lock-parents',
    text: `
    WITH had AS MATERIALIZED (
      SELECT c.id FROM ${t.runs} c JOIN ${t.runs} p ON p.id = c.parent_run_id WHERE ${UNTOLD('c')} ORDER BY c.id LIMIT $1 FOR NO KEY UPDATE OF p SKIP LOCKED),
    lone AS MATERIALIZED (
      SELECT c.id FROM ${t.runs} c WHERE ${UNTOLD('c')} AND NOT EXISTS (SELECT 1 FROM ${t.runs} p WHERE p.id = c.parent_run_id) ORDER BY c.id LIMIT $1)
    SELECT id FROM had UNION ALL SELECT id FROM lone`,
  };
}

/**
 * Second statement, in a snapshot of its own: their ends reach the steps that still wait for them, and they count as delivered
 * whatever those were. A step that is awaited later finds the end by itself. Parent before child; a child that goes on again at this
 * moment, or is locked, is left to the next pass. $1 offset ms, $2 child ids.
 */
export function deliverChildren(t: TableNames): Statement {
  const now = clock('$1');
  return {
    name: 'deliver-children',
    text: `
    WITH c AS MATERIALIZED (
      SELECT c.id, c.parent_stage_run_id, c.parent_step, c.status, c.output, c.failure_code, c.failure_message, c.cancel_reason
        FROM ${t.runs} c WHERE c.id = ANY ($2::uuid[]) AND ${UNTOLD('c')} ORDER BY c.id FOR NO KEY UPDATE SKIP LOCKED),
    f AS (
      UPDATE ${t.steps} s SET ${endOfChild('c', now)}
        FROM c WHERE s.stage_run_id = c.parent_stage_run_id AND s.key = c.parent_step AND s.open AND s.kind = 'child' RETURNING s.stage_run_id),
    told AS (UPDATE ${t.runs} r SET parent_told = true FROM c WHERE r.id = c.id),
    ${resumeStageRuns(t, 'f')}
    SELECT count(*)::int AS delivered FROM f`,
  };
}

export interface OrphanRow {
  id: string;
  parent_ended: RunStatus;
}

/** Open runs whose parents ended while they waited for them. What ended a parent that goes on again was a failure or a cancel. $1 limit. */
export function findOrphans(t: TableNames): Statement {
  return {
    name: 'find-orphans',
    text: `
    SELECT r.id, CASE WHEN p.status IN ${ENDED} THEN p.status ELSE 'CANCELLED' END AS parent_ended
      FROM ${t.runs} r LEFT JOIN ${t.runs} p ON p.id = r.parent_run_id WHERE r.cancel_asked AND r.status IN ${OPEN_RUN} ORDER BY r.id LIMIT $1`,
  };
}
