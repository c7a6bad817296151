import type { TableNames } from '../../../table-names.js';
import { clock, DUE, EXECUTE, sameOwner } from '../sql.js';

/**
 * CTEs by which stage runs go on after a wait: of those that `fired` names, the SUSPENDED ones become PENDING with a due job in
 * the queue they came from, at their run's place in it.
 *
 * `fired` is the name of a CTE with `stage_run_id`, `run_id` and `owner_id` of rows of the ledger; it may name a stage run several times, it
 * goes on once, and only by rows that belong to its run and its owner. Only inside a
 * statement that follows the one that locked the runs, and only for runs that are RUNNING: in the locking statement's
 * snapshot a stage run that was suspended while the lock was waited for would still be running, and be left asleep.
 * A stage run that is not SUSPENDED is left alone: its row is marked, and the suspend looks at marks. A row without a queue must not
 * keep all the others of the statement from going on.
 *
 * Yields `resumed` (id, run_id, one row for each stage run that goes on). $1 is the clock's offset.
 */
export function resumeStageRuns(t: TableNames, fired: string): string {
  return `
    resumed AS (
      UPDATE ${t.stageRuns} s SET status = 'PENDING', resumed = true, resumes = s.resumes + 1, finished_at = NULL, version = s.version + 1
        FROM (SELECT DISTINCT stage_run_id, run_id, owner_id FROM ${fired}) f
       WHERE s.id = f.stage_run_id AND s.run_id = f.run_id AND ${sameOwner('s', 'f')} AND s.status = 'SUSPENDED' RETURNING s.id, s.run_id, s.owner_id, s.queue, s.cap_ms),
    resumed_jobs AS (
      INSERT INTO ${t.jobs} (id, kind, run_id, stage_run_id, owner_id, definition_key, queue, priority, run_at, state, cap_ms, created_at)
      SELECT gen_random_uuid(), ${EXECUTE}, x.run_id, x.id, x.owner_id, r.definition_key, coalesce(x.queue, 'default'), r.priority, coalesce(r.start_at, r.created_at), ${DUE}, x.cap_ms, ${clock('$1')}
        FROM resumed x JOIN ${t.runs} r ON r.id = x.run_id AND ${sameOwner('r', 'x')})`;
}
