import type { TableNames } from '../../../table-names.js';
import { sentInTime } from '../../../data-source/silence.js';
import type { Statement } from '../../../data-source/statement.js';
import { CANCEL, CLAIMED, clock, DELAYED, DUE, ENDED, EXECUTE, isEscalated, sameOwner, slotOf } from '../sql.js';
import { claimedColumns, type ClaimedRow } from './claimed-row.js';

/**
 * Takes due jobs: one statement, one commit, whatever their number.
 *
 * Oldest run first, not oldest job: runs that were started in one call go depth first, so the first ones end while others
 * still wait. Served by jobs_due (priority DESC, run_at, run_id) WHERE state = 0: an empty claim reads one index page.
 * Everything it locks is SKIP LOCKED, so it never waits and can't deadlock with writers that go run → stage run → job. A job
 * is taken only where its stage run and run still want it; the others are deleted here at once: left in place they would
 * fill every later LIMIT. `definition_key <> ALL` comes before LIMIT for the same reason (GHOST-3).
 *
 * A stage run that goes on after a wait is no new attempt, and its start was told before; that of an escalation is told by what comes of it. One that was claimed before has moved
 * since, which its version shows: its ledger may hold something.
 * The ledger is not asked: a plan that was made while it was small would read all of it for each job.
 *
 * A job whose owner is not that of the stage run and the run it names was forged by plain SQL: it is removed, and nobody's.
 *
 * Inputs and what earlier stages gave may be tens of MB for a page, and the locks last until all of it is taken: who stands still
 * meanwhile must not keep the jobs ($6).
 *
 * `torn` are jobs whose stage run or run somebody deleted by hand (fault C21). A job that moved on after the snapshot names a
 * stage run that the snapshot doesn't hold either: only one that names the same in the snapshot is torn.
 */
export function claim(t: TableNames): Statement {
  return claimFrom(
    t,
    'claim',
    `
    SELECT id, stage_run_id, run_id, owner_id, kind, priority, run_at FROM ${t.jobs}
     WHERE state = ${DUE} AND definition_key <> ALL ($4::text[]) AND ($5::text[] IS NULL OR queue = ANY ($5::text[]))
     ORDER BY priority DESC, run_at, run_id LIMIT $3
       FOR UPDATE SKIP LOCKED`,
  );
}

/**
 * The same for one stage run's job, for a transport that names it ($3: stage run id, $7: kind). Without an attempt ($8 null)
 * also while it is delayed; with one, only for that attempt and when it is due or sent: a message that comes twice would else
 * begin the retry at once.
 */
export function claimStageRun(t: TableNames): Statement {
  return claimFrom(
    t,
    'claim-stage-run',
    `
    SELECT id, stage_run_id, run_id, owner_id, kind, priority, run_at FROM ${t.jobs} j
     WHERE stage_run_id = $3::uuid AND run_id = (SELECT run_id FROM ${t.stageRuns} WHERE id = $3::uuid)
       AND owner_id IS NOT DISTINCT FROM (SELECT owner_id FROM ${t.stageRuns} WHERE id = $3::uuid) AND kind = $7::smallint AND state <> ${CLAIMED} AND definition_key <> ALL ($4::text[]) AND ($5::text[] IS NULL OR queue = ANY ($5::text[]))
       AND ($8::int IS NULL OR state <> ${DELAYED}
            AND $8::int = 1 + CASE WHEN kind = ${CANCEL} THEN j.attempt ELSE (SELECT attempt - resumed::int FROM ${t.stageRuns} WHERE id = $3::uuid) END)
     LIMIT 1 FOR UPDATE SKIP LOCKED`,
  );
}

export const claimValues = (
  offsetMs: number,
  workerId: string,
  what: number | string,
  unserved: readonly string[],
  queues: readonly string[] | null,
  sendMs: number,
): unknown[] => [offsetMs, workerId, what, unserved, queues, sendMs];

function claimFrom(t: TableNames, name: string, due: string): Statement {
  const now = clock('$1');
  const wanted = `(NOT st.forged AND (st.kind = ${EXECUTE} AND st.status = 'PENDING' AND st.run_status = 'RUNNING' OR st.kind = ${CANCEL} AND st.status = 'CANCELLED'))`;
  const unwanted = `(st.forged OR st.kind = ${EXECUTE} AND (st.status <> 'PENDING' OR st.run_status IN ${ENDED}) OR st.kind = ${CANCEL} AND st.status <> 'CANCELLED')`;
  return {
    name,
    text: `
    WITH due AS MATERIALIZED (${due}),
    st AS MATERIALIZED (
      SELECT due.id AS job_id, due.kind, due.priority, due.run_at, s.id, s.run_id, s.status, s.generation, s.ordinal, s.resumed, r.status AS run_status,
             NOT (s.run_id = due.run_id AND ${sameOwner('s', 'due')} AND ${sameOwner('r', 's')}) AS forged, gen_random_uuid() AS token
        FROM due JOIN ${t.stageRuns} s ON s.id = due.stage_run_id JOIN ${t.runs} r ON r.id = s.run_id
         FOR NO KEY UPDATE OF s SKIP LOCKED),
    jb AS (
      UPDATE ${t.jobs} j SET state = ${CLAIMED}, locked_by = $2, locked_at = ${now}, started_at = ${now}, claim_token = st.token, attempt = j.attempt + 1
        FROM st WHERE j.id = st.job_id AND ${wanted} RETURNING j.id, j.attempt),
    us AS (
      UPDATE ${t.stageRuns} s SET status = 'RUNNING', claim_token = st.token, worker_id = $2, started_at = ${now}, attempt = s.attempt + 1 - st.resumed::int,
             resumed = false, version = s.version + 1
        FROM st WHERE s.id = st.id AND st.kind = ${EXECUTE} AND ${wanted} RETURNING s.id, s.run_id, s.owner_id, s.key, s.stage, s.attempt, s.version, st.resumed),
    gone AS (DELETE FROM ${t.jobs} j USING st WHERE j.id = st.job_id AND ${unwanted}),
    torn AS (
      DELETE FROM ${t.jobs} j USING due LEFT JOIN st ON st.job_id = due.id
       WHERE j.id = due.id AND st.job_id IS NULL
         AND NOT EXISTS (SELECT 1 FROM ${t.stageRuns} s JOIN ${t.runs} r ON r.id = s.run_id WHERE s.id = due.stage_run_id)
         AND EXISTS (SELECT 1 FROM ${t.jobs} o WHERE o.id = due.id AND o.stage_run_id = due.stage_run_id)),
    told AS (
      INSERT INTO ${t.outbox} (run_id, owner_id, slot, events, created_at)
      SELECT us.run_id, us.owner_id, ${slotOf('us.run_id')}, json_build_array(json_build_object('type', 'stage:started', 'stageRunId', us.id,
             'node', us.key, 'stage', us.stage, 'data', json_build_object('attempt', us.attempt))), ${now} FROM us WHERE NOT us.resumed AND NOT ${isEscalated('us')})
    SELECT st.job_id, st.kind, st.token, jb.id IS NOT NULL AS taken, st.forged, st.run_status, coalesce(us.attempt, jb.attempt) AS attempt, coalesce(us.version > 1, false) AS has_ledger,
           coalesce(us.resumed, false) AS resumed, ${claimedColumns(t)}
      FROM st LEFT JOIN jb ON jb.id = st.job_id LEFT JOIN us ON us.id = st.id
      JOIN ${t.stageRuns} s ON s.id = st.id JOIN ${t.runs} r ON r.id = st.run_id
     WHERE ${sentInTime('$6')}
     ORDER BY st.priority DESC, st.run_at, st.run_id, st.ordinal`,
  };
}

export type { ClaimedRow };
