import type { AttemptRow, OwnerScope, RunDetails, RunRow, StageRunRow } from '../../../../engine/ports/index.js';
import type { StageProgress } from '../../../../engine/state/notes.js';
import type { RunStatus } from '../../../../engine/state/statuses.js';
import type { Statement } from '../../../data-source/statement.js';
import type { TableNames } from '../../../table-names.js';
import { clock, DELAYED, ENDED, EXECUTE, isEscalated, isoText, OPEN_RUN, OPEN_STAGE_RUN, sameOwner } from '../sql.js';

/** Columns of a run without its payloads, named as `RunRow` names them. */
const RUN_COLUMNS = `
  r.id, r.definition_id AS "definitionId", r.definition_version AS "definitionVersion", r.definition_key AS "definitionKey", r.status,
  r.owner_id AS "ownerId", r.subject_type AS "subjectType", r.subject_id AS "subjectId", r.actor::text AS actor, r.generation, r.priority, r.queue, ${isoText('r.created_at')} AS "createdAt",
  ${isoText('r.started_at')} AS "startedAt", ${isoText('r.finished_at')} AS "finishedAt", r.failure_code AS "failureCode",
  r.failure_message AS "failureMessage", r.failed_node AS "failedNode", r.cancel_reason AS "cancelReason"`;
const PAYLOAD_COLUMNS = `r.input::text AS input, r.output::text AS output, r.failure_params::text AS "failureParams"`;

/** Whether all that is open of a run is suspended, and there is something: by the key of its stage runs, few for a run. */
const waiting = (t: TableNames): string =>
  `(r.status = 'RUNNING' AND coalesce((SELECT bool_and(s.status = 'SUSPENDED') FROM ${t.stageRuns} s WHERE s.run_id = r.id AND ${sameOwner('s', 'r')} AND s.status IN ${OPEN_STAGE_RUN} AND NOT ${isEscalated('s')}), false)) AS waiting`;

/** An escalation that waits for its time keeps no run from being stuck. */
export const movesItsRun = (t: TableNames, job: string): string =>
  `NOT EXISTS (SELECT 1 FROM ${t.stageRuns} e WHERE e.id = ${job}.stage_run_id AND ${isEscalated('e')})`;

/** The one place where a read is narrowed to an owner (faults A18, K17). Statement texts differ, so that each uses its index. */
export type ScopeKind = 'all' | 'owner' | 'ownerless';

export const SCOPE_KINDS: readonly ScopeKind[] = ['all', 'owner', 'ownerless'];

export function scopeKind(scope: OwnerScope): ScopeKind {
  if ('all' in scope) return 'all';
  return scope.owner === null ? 'ownerless' : 'owner';
}

/** Its parameter, always the first: the owner, or null. */
export const scopeValue = (scope: OwnerScope): string | null => ('all' in scope ? null : scope.owner);

export const inScope = (kind: ScopeKind): string =>
  ({
    all: '($1::text IS NULL OR true)',
    owner: 'r.owner_id = $1::text',
    ownerless: '(r.owner_id IS NULL AND $1::text IS NULL)',
  })[kind];

/** A run, its row locked until the transaction ends. $1 owner, $2 run id, $3 offset ms. */
export function lockRun(t: TableNames, kind: ScopeKind): Statement {
  const now = clock('$3');
  return {
    name: `lock-run-${kind}`,
    text: `SELECT ${RUN_COLUMNS}, (extract(epoch FROM r.deadline_at - ${now}) * 1000)::float8 AS "deadlineIn" FROM ${t.runs} r WHERE r.id = $2::uuid AND ${inScope(kind)} FOR NO KEY UPDATE`,
  };
}

/** How many jobs a run has, those of escalations not counted, and how long it has not moved. $1 run id, $2 offset ms. */
export function readMovement(t: TableNames): Statement {
  return {
    name: 'read-movement',
    text: `
    SELECT (SELECT count(*)::int FROM ${t.jobs} j WHERE j.run_id = $1::uuid AND ${sameOwner('j', 'r')} AND ${movesItsRun(t, 'j')}) AS jobs,
           (extract(epoch FROM ${clock('$2')} - greatest(r.created_at, r.started_at,
             (SELECT max(greatest(s.created_at, s.started_at, s.finished_at)) FROM ${t.stageRuns} s WHERE s.run_id = r.id AND ${sameOwner('s', 'r')}))) * 1000)::float8 AS idle
      FROM ${t.runs} r WHERE r.id = $1::uuid`,
  };
}

/** A run without its payloads. $1 owner, $2 run id. */
export function findRun(t: TableNames, kind: ScopeKind): Statement {
  return {
    name: `find-run-${kind}`,
    text: `SELECT ${RUN_COLUMNS} FROM ${t.runs} r WHERE r.id = $2::uuid AND ${inScope(kind)}`,
  };
}

/** $1 owner, $2 run id. */
export function getRun(t: TableNames, kind: ScopeKind): Statement {
  return {
    name: `get-run-${kind}`,
    text: `SELECT ${RUN_COLUMNS}, ${PAYLOAD_COLUMNS}, ${waiting(t)} FROM ${t.runs} r WHERE r.id = $2::uuid AND ${inScope(kind)}`,
  };
}

/**
 * A page of runs, newest first, without payloads (fault K19); of one subject through runs_subject. $1 owner, $2 definition,
 * $3 statuses, $4 before id, $5 limit, $6 subject type, $7 subject id.
 */
export function listRuns(t: TableNames, kind: ScopeKind, ofSubject: boolean): Statement {
  const subject = ofSubject ? 'AND r.subject_type = $6::text AND r.subject_id = $7::text' : '';
  return {
    name: `list-runs-${kind}${ofSubject ? '-subject' : ''}`,
    text: `
    SELECT ${RUN_COLUMNS} FROM ${t.runs} r
     WHERE ${inScope(kind)} ${subject} AND ($2::text IS NULL OR r.definition_id = $2) AND ($3::text[] IS NULL OR r.status = ANY ($3)) AND ($4::uuid IS NULL OR r.id < $4)
     ORDER BY r.id DESC LIMIT $5`,
  };
}

/** $1 owner, $2 definition. */
export function countRuns(t: TableNames, kind: ScopeKind): Statement {
  return {
    name: `count-runs-${kind}`,
    text: `SELECT r.status, count(*)::int AS runs FROM ${t.runs} r WHERE ${inScope(kind)} AND ($2::text IS NULL OR r.definition_id = $2) GROUP BY r.status`,
  };
}

/** Of stage runs of one place the visit first, then its escalations by their levels. */
export const escalationsLast = (stageRun: string): string => `length(${stageRun}.key), ${stageRun}.key`;

/** That a row belongs to the owner of the run $1 that it names. */
export const ofItsRun = (t: TableNames, row: string): string =>
  `${row}.owner_id IS NOT DISTINCT FROM (SELECT owner_id FROM ${t.runs} WHERE id = $1::uuid)`;

/** All stage runs of a run, in order of the definition and of time; escalations after their visit. $1 run id. */
export function readStageRuns(t: TableNames): Statement {
  return {
    name: 'read-stage-runs',
    text: `
    SELECT s.id, s.run_id AS "runId", s.generation, s.node, s.key, s.stage, s.visit, s.position, s.ordinal, s.status, s.attempt, s.losses,
           ${isoText('s.created_at')} AS "createdAt", ${isoText('s.started_at')} AS "startedAt", ${isoText('s.finished_at')} AS "finishedAt",
           s.skip_reason AS "skipReason", s.error_code AS "errorCode", s.error_message AS "errorMessage", s.output::text AS output, s.outcome, s.progress::text AS progress, ${isoText('j.run_at')} AS "dueAt"
      FROM ${t.stageRuns} s LEFT JOIN ${t.jobs} j ON j.run_id = $1::uuid AND j.stage_run_id = s.id AND ${sameOwner('j', 's')} AND j.kind = ${EXECUTE} AND j.state = ${DELAYED}
     WHERE s.run_id = $1::uuid AND ${ofItsRun(t, 's')} ORDER BY s.generation, s.ordinal, ${escalationsLast('s')}`,
  };
}

/** $1 run id. */
export function readAttempts(t: TableNames): Statement {
  return {
    name: 'read-attempts',
    text: `
    SELECT a.stage_run_id AS "stageRunId", a.attempt, a.worker_id AS "workerId", ${isoText('a.started_at')} AS "startedAt", ${isoText('a.ended_at')} AS "endedAt",
           a.duration_ms::float8 AS "durationMs", a.code, a.message, a.stack, a.cause::text AS cause
      FROM ${t.attempts} a WHERE a.run_id = $1::uuid AND ${ofItsRun(t, 'a')} ORDER BY a.ended_at, a.attempt`,
  };
}

/** Marks runs as awaited. A run whose row is held is left to the poll: waiting here would wait for a host's transaction. $1 owner, $2 ids. */
export function markAwaited(t: TableNames, kind: ScopeKind): Statement {
  return {
    name: `mark-awaited-${kind}`,
    text: `
    WITH lk AS MATERIALIZED (
      SELECT r.id FROM ${t.runs} r WHERE r.id = ANY ($2::uuid[]) AND ${inScope(kind)} AND NOT r.awaited AND r.status IN ${OPEN_RUN} ORDER BY r.id FOR NO KEY UPDATE SKIP LOCKED),
    up AS (UPDATE ${t.runs} r SET awaited = true FROM lk WHERE r.id = lk.id RETURNING r.id)
    SELECT count(*)::int AS marked FROM up`,
  };
}

/** The ended ones among runs. $1 owner, $2 ids. */
export function readFinished(t: TableNames, kind: ScopeKind): Statement {
  return {
    name: `read-finished-${kind}`,
    text: `SELECT ${RUN_COLUMNS}, ${PAYLOAD_COLUMNS}, false AS waiting FROM ${t.runs} r WHERE r.id = ANY ($2::uuid[]) AND ${inScope(kind)} AND r.status IN ${ENDED}`,
  };
}

export type LockedRunRow = RunRow & { readonly deadlineIn: number | null };
export interface MovementRow {
  jobs: number;
  idle: number;
}
export interface CountRow {
  status: RunStatus;
  runs: number;
}
export type { AttemptRow, RunDetails, RunRow };

export type ReadStageRun = Omit<StageRunRow, 'progress'> & { readonly progress: string | null };

export function stageRunRow({ progress, ...row }: ReadStageRun): StageRunRow {
  return { ...row, progress: progress === null ? null : (JSON.parse(progress) as StageProgress) };
}

/** A locked row without the column that isn't part of it. */
export function runRow({ deadlineIn: _deadlineIn, ...row }: LockedRunRow): RunRow {
  return row;
}
