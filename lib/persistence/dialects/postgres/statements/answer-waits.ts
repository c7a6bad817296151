import type { Statement } from '../../../data-source/statement.js';
import type { TableNames } from '../../../table-names.js';
import { clock, OPEN_STAGE_RUN, sameOwner } from '../sql.js';
import { resumeStageRuns } from './resume.js';
import { standingAnswers } from './standing-answers.js';

/**
 * Ends the waits of a stage run whose answer is there already. Follows the statement that locked the run: it sees what came
 * before that, and whoever brings something later finds the waits. $1 offset ms, $2 stage run id.
 */
export function answerWaits(t: TableNames): Statement {
  return {
    name: 'answer-waits',
    text: `
    WITH waits AS MATERIALIZED (
      SELECT s.* FROM ${t.stageRuns} g JOIN ${t.runs} r ON r.id = g.run_id AND ${sameOwner('r', 'g')} AND r.status = 'RUNNING'
        JOIN ${t.steps} s ON s.stage_run_id = g.id AND s.run_id = g.run_id AND ${sameOwner('s', 'g')} AND s.open AND s.kind IN ('signal', 'child')
       WHERE g.id = $2::uuid AND g.status IN ${OPEN_STAGE_RUN} FOR NO KEY UPDATE OF s),
    ${standingAnswers(t, 'waits', clock('$1'))},
    ended AS MATERIALIZED (
      SELECT w.stage_run_id, w.run_id, w.owner_id FROM waits w
       WHERE (w.stage_run_id, w.key) IN (SELECT stage_run_id, key FROM signals UNION ALL SELECT stage_run_id, key FROM children)),
    ${resumeStageRuns(t, 'ended')}
    SELECT count(*)::int AS ended FROM ended`,
  };
}
