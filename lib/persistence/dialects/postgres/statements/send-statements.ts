import type { UnsentJob } from '../../../../engine/ports/index.js';
import type { Statement } from '../../../data-source/statement.js';
import type { TableNames } from '../../../table-names.js';
import { CANCEL, clock, DUE, milliseconds, sameOwner, SENT } from '../sql.js';

export interface UnsentRow {
  kind: number;
  stage_run_id: string;
  run_id: string;
  queue: string;
  priority: number;
  attempt: number;
  resumes: number;
}

/**
 * Due jobs on their way to an external transport ($1 offset ms, $2 limit).
 *
 * Through jobs_due like the claim. They leave that index by it: marked by an instant alone, a broker's whole backlog
 * would stand in front of the next job to be sent. One that was forged is removed, as the claim does. SKIP LOCKED: any number of processes send at once, each job once.
 */
export function takeUnsent(t: TableNames): Statement {
  return {
    name: 'take-unsent',
    text: `
    WITH due AS MATERIALIZED (
      SELECT id, run_id, stage_run_id, owner_id FROM ${t.jobs} WHERE state = ${DUE} ORDER BY priority DESC, run_at, run_id LIMIT $2 FOR UPDATE SKIP LOCKED),
    forged AS MATERIALIZED (
      SELECT due.id FROM due JOIN ${t.stageRuns} s ON s.id = due.stage_run_id JOIN ${t.runs} r ON r.id = s.run_id
       WHERE NOT (s.run_id = due.run_id AND ${sameOwner('s', 'due')} AND ${sameOwner('r', 's')})),
    gone AS (DELETE FROM ${t.jobs} j USING forged WHERE j.id = forged.id),
    sent AS (
      UPDATE ${t.jobs} j SET state = ${SENT}, sent_at = ${clock('$1')} FROM due WHERE j.id = due.id AND due.id NOT IN (SELECT id FROM forged)
      RETURNING j.id, j.kind, j.stage_run_id, j.run_id, j.queue, j.priority, j.run_at, j.attempt)
    SELECT sent.kind, sent.stage_run_id, sent.run_id, sent.queue, sent.priority, 1 + CASE WHEN sent.kind = ${CANCEL} THEN sent.attempt ELSE s.attempt - s.resumed::int END AS attempt, s.resumes
      FROM sent JOIN ${t.stageRuns} s ON s.id = sent.stage_run_id
     ORDER BY sent.priority DESC, sent.run_at, sent.id`,
  };
}

export function unsentJob(row: UnsentRow): UnsentJob {
  return {
    kind: row.kind === CANCEL ? 'cancel' : 'execute',
    stageRunId: row.stage_run_id,
    runId: row.run_id,
    queue: row.queue,
    priority: row.priority,
    attempt: row.attempt,
    resumes: row.resumes,
  };
}

/** Jobs sent long ago and claimed by nobody, through jobs_sent ($1 offset ms, $2 requeue after ms, $3 limit). */
export function requeueSent(t: TableNames): Statement {
  return {
    name: 'requeue-sent',
    text: `
    WITH lost AS MATERIALIZED (
      SELECT id FROM ${t.jobs} WHERE state = ${SENT} AND sent_at <= ${clock('$1')} - ${milliseconds('$2::float8')}
       ORDER BY sent_at LIMIT $3 FOR UPDATE SKIP LOCKED),
    again AS (UPDATE ${t.jobs} j SET state = ${DUE} FROM lost WHERE j.id = lost.id RETURNING 1)
    SELECT count(*)::int AS requeued FROM again`,
  };
}
