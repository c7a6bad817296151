/** Columns of a failed or lost attempt (FAIL-2), in the order in which the statements select them. */
export const ATTEMPT_COLUMNS =
  'run_id, owner_id, stage_run_id, attempt, worker_id, started_at, ended_at, duration_ms, code, message, stack, cause';
