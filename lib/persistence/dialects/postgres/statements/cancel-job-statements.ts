import type { Statement } from '../../../data-source/statement.js';
import type { TableNames } from '../../../table-names.js';
import { CANCEL, CLAIMED, clock, DELAYED, DUE, milliseconds, SENT } from '../sql.js';

/** Removes a cancel job that is done, fenced by its token ($1 job id, $2 token). */
export function finishCancelJob(t: TableNames): Statement {
  return {
    name: 'finish-cancel-job',
    text: `DELETE FROM ${t.jobs} WHERE id = $1 AND claim_token = $2 AND state = ${CLAIMED} RETURNING id`,
  };
}

/** Puts a cancel job back for later ($1 offset ms, $2 job id, $3 token, $4 delay ms). */
export function delayCancelJob(t: TableNames): Statement {
  return {
    name: 'delay-cancel-job',
    text: `UPDATE ${t.jobs} SET state = ${DELAYED}, run_at = ${clock('$1')} + ${milliseconds('$4::float8')}, claim_token = NULL, locked_by = NULL, locked_at = NULL, started_at = NULL
            WHERE id = $2 AND claim_token = $3 AND state = ${CLAIMED} RETURNING id`,
  };
}

/**
 * A cancel job for a stage run whose body ended after its run was cancelled ($1 offset ms, $2 job id, $3 stage run id,
 * $4 queue). Nothing when that stage run is not CANCELLED, when its run was terminated (CANCEL-4), or when such a job waits already.
 */
export function addCancelJob(t: TableNames): Statement {
  return {
    name: 'add-cancel-job',
    text: `
    INSERT INTO ${t.jobs} (id, kind, run_id, stage_run_id, owner_id, definition_key, queue, priority, run_at, state, created_at)
    SELECT $2, ${CANCEL}, s.run_id, s.id, s.owner_id, r.definition_key, $4, r.priority, ${clock('$1')}, ${DUE}, ${clock('$1')}
      FROM ${t.stageRuns} s JOIN ${t.runs} r ON r.id = s.run_id
     WHERE s.id = $3 AND s.status = 'CANCELLED' AND NOT r.terminated
       AND NOT EXISTS (SELECT 1 FROM ${t.jobs} j WHERE j.run_id = s.run_id AND j.stage_run_id = s.id AND j.kind = ${CANCEL} AND j.state IN (${DUE}, ${SENT}))
    RETURNING id`,
  };
}
