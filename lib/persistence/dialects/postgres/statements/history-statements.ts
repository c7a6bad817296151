import type { Statement } from '../../../data-source/statement.js';
import type { TableNames } from '../../../table-names.js';
import { isoText, sameOwner } from '../sql.js';
import { escalationsLast, inScope, ofItsRun, type ScopeKind } from './read-statements.js';

const ANNOTATION_COLUMNS = `
  a.id, a.run_id AS "runId", a.stage_run_id AS "stageRunId", a.attempt, a.key, a.value::text AS value, a.scope, a.actor::text AS actor,
  ${isoText('a.created_at')} AS "createdAt"`;

/** The ledgers of a run's stage runs, through the key of each: no index of the ledger knows what is done. $1 run id. */
export function readSteps(t: TableNames): Statement {
  return {
    name: 'read-steps',
    text: `
    SELECT p.stage_run_id AS "stageRunId", p.key, p.kind, p.status, p.seq, p.attempt, p.result::text AS result, p.failure::text AS failure,
           p.timed_out AS "timedOut", ${isoText('p.due_at')} AS "dueAt", p.event_key AS "eventKey", p.child_run_id AS "childRunId",
           ${isoText('p.created_at')} AS "createdAt", ${isoText('p.fired_at')} AS "firedAt"
      FROM ${t.stageRuns} s JOIN ${t.steps} p ON p.stage_run_id = s.id AND ${sameOwner('p', 's')}
     WHERE s.run_id = $1::uuid AND ${ofItsRun(t, 's')} ORDER BY s.generation, s.ordinal, ${escalationsLast('s')}, p.seq NULLS LAST, p.created_at, p.key`,
  };
}

/** $1 run id. */
export function readAnnotations(t: TableNames): Statement {
  return {
    name: 'read-annotations',
    text: `SELECT ${ANNOTATION_COLUMNS} FROM ${t.annotations} a WHERE a.run_id = $1::uuid AND ${ofItsRun(t, 'a')} ORDER BY a.created_at, a.id`,
  };
}

/** $1 run id. */
export function readLines(t: TableNames): Statement {
  return {
    name: 'read-lines',
    text: `
    SELECT l.id, l.stage_run_id AS "stageRunId", l.attempt, l.level, l.message, ${isoText('l.created_at')} AS "createdAt"
      FROM ${t.logLines} l WHERE l.run_id = $1::uuid AND ${ofItsRun(t, 'l')} ORDER BY l.created_at, l.id`,
  };
}

/**
 * A page of one run's annotations, newest first. $1 owner, $2 run id, $3 key prefix, $4 scope, $5 actor, $6 attempt, $7 since,
 * $8 until, $9 before id, $10 limit.
 */
export function listAnnotations(t: TableNames, kind: ScopeKind): Statement {
  return {
    name: `list-annotations-${kind}`,
    text: `
    SELECT ${ANNOTATION_COLUMNS} FROM ${t.annotations} a JOIN ${t.runs} r ON r.id = a.run_id AND ${sameOwner('r', 'a')}
     WHERE a.run_id = $2::uuid AND ${inScope(kind)}
       AND ($3::text IS NULL OR starts_with(a.key, $3)) AND ($4::text IS NULL OR a.scope = $4) AND ($5::text IS NULL OR a.actor::text = $5)
       AND ($6::int IS NULL OR a.attempt = $6) AND ($7::timestamptz IS NULL OR a.created_at >= $7) AND ($8::timestamptz IS NULL OR a.created_at < $8)
       AND ($9::uuid IS NULL OR a.id < $9)
     ORDER BY a.id DESC LIMIT $10`,
  };
}
