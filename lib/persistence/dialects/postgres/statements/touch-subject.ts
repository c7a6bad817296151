import type { Statement } from '../../../data-source/statement.js';
import type { TableNames } from '../../../table-names.js';
import { clock, OPEN_RUN, OPEN_STAGE_RUN, sameOwner } from '../sql.js';
import { inScope, type ScopeKind } from './read-statements.js';
import { resumeStageRuns } from './resume.js';

/**
 * Counts a touch on the open runs about a subject, through runs_subject, and holds their locks: in id order, as every writer takes
 * them, so that two touches can't deadlock. Waits for whoever holds one: a run passed over would sleep through the touch.
 *
 * A counter and no instant: a touch of a transaction that is long under way becomes visible after claims that are younger.
 * $1 owner, $2 subject type, $3 subject id.
 */
export function touchRuns(t: TableNames, kind: ScopeKind): Statement {
  return {
    name: `touch-runs-${kind}`,
    text: `
    WITH lk AS MATERIALIZED (
      SELECT r.id FROM ${t.runs} r
       WHERE ${inScope(kind)} AND r.subject_type = $2::text AND r.subject_id = $3::text AND r.status IN ${OPEN_RUN}
       ORDER BY r.id FOR NO KEY UPDATE),
    up AS (UPDATE ${t.runs} r SET touches = r.touches + 1 FROM lk WHERE r.id = lk.id RETURNING r.id)
    SELECT id FROM up`,
  };
}

export interface TouchedRow {
  polls: number;
  resumed: number;
}

/**
 * Ends the polls that wait in runs whose locks are held, as their time would. A statement of its own after the lock: in its snapshot,
 * waits that a suspend wrote while the lock was waited for are there. $1 offset ms, $2 run ids.
 */
export function firePolls(t: TableNames): Statement {
  const now = clock('$1');
  return {
    name: 'fire-polls',
    text: `
    WITH w AS MATERIALIZED (
      SELECT s.stage_run_id, s.key
        FROM ${t.steps} s JOIN ${t.runs} r ON r.id = s.run_id AND ${sameOwner('r', 's')} JOIN ${t.stageRuns} g ON g.id = s.stage_run_id
       WHERE s.run_id = ANY ($2::uuid[]) AND s.open AND s.kind = 'poll' AND r.status = 'RUNNING' AND g.status IN ${OPEN_STAGE_RUN}
       ORDER BY s.stage_run_id, s.key FOR NO KEY UPDATE OF s),
    f AS (
      UPDATE ${t.steps} s SET status = 'ready', open = false, fired_at = ${now}
        FROM w WHERE s.stage_run_id = w.stage_run_id AND s.key = w.key RETURNING s.stage_run_id, s.run_id, s.owner_id),
    ${resumeStageRuns(t, 'f')}
    SELECT (SELECT count(*)::int FROM f) AS polls, (SELECT count(*)::int FROM resumed) AS resumed`,
  };
}
