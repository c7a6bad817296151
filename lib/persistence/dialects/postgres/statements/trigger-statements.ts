import type { NewTrigger } from '../../../../engine/ports/index.js';
import { sentInTime } from '../../../data-source/silence.js';
import type { Statement } from '../../../data-source/statement.js';
import type { TableNames } from '../../../table-names.js';
import { RowSet } from '../row-set.js';
import { clock, isoText, milliseconds, OPEN_RUN, sameOwner } from '../sql.js';
import type { ScopeKind } from './read-statements.js';

/** Unquoted in SQL, where letters have one case. */
export const newTriggerRows = new RowSet<NewTrigger>({
  id: 'uuid',
  triggerId: 'text',
  type: 'text',
  spec: 'json',
  fingerprint: 'text',
  eventKey: 'text',
});

export interface MoveRow {
  id: string;
  version: number;
  cursor: number;
  next: number | null;
  run: string | null;
  outcome: string | null;
  error: string | null;
  started: number;
  passed: number;
}

export const moveRows = new RowSet<MoveRow>({
  id: 'uuid',
  version: 'int',
  cursor: 'float8',
  next: 'float8',
  run: 'uuid',
  outcome: 'text',
  error: 'text',
  started: 'int',
  passed: 'int',
});

const OWNER = `coalesce(t.owner_id, '')`;

/** Milliseconds since 1970 as an instant, exactly: `to_timestamp` of a fraction is not. */
const instantOf = (ms: string): string => `('epoch'::timestamptz + ${milliseconds(ms)})`;
const msOf = (instant: string): string => `floor(extract(epoch FROM ${instant}) * 1000)::float8`;

/**
 * Triggers of a version come in force, those that are not among them go. What was in force and begins at the same place in time keeps
 * it; its version rises in any case, so that whoever is at it writes nothing over what is new. $1 offset ms, $2 owner,
 * $3 definition, $4 version, $5 to $10 the rows.
 */
export function putTriggers(t: TableNames): Statement {
  const now = clock('$1');
  const kept = `t.status = 'active' AND t.type = EXCLUDED.type AND t.fingerprint = EXCLUDED.fingerprint`;
  return {
    name: 'put-triggers',
    text: `
    WITH d AS MATERIALIZED (SELECT * FROM ${newTriggerRows.source('x', 5)}),
    gone AS (
      UPDATE ${t.triggers} t SET status = 'retired', next_at = NULL, locked_until = NULL, version = t.version + 1, updated_at = ${now}
       WHERE t.definition_id = $3::text AND ${OWNER} = coalesce($2::text, '') AND t.status = 'active' AND NOT EXISTS (SELECT 1 FROM d WHERE d.triggerId = t.trigger_id)),
    put AS (
      INSERT INTO ${t.triggers} AS t (id, owner_id, definition_id, definition_version, trigger_id, type, spec, fingerprint, event_key, last_at, next_at, created_at, updated_at)
      SELECT d.id, $2::text, $3::text, $4::int, d.triggerId, d.type, d.spec, d.fingerprint, d.eventKey, s.at, s.at, ${now}, ${now}
        FROM d CROSS JOIN LATERAL (SELECT CASE WHEN d.type = 'schedule' THEN ${now} END AS at) s ORDER BY d.triggerId
          ON CONFLICT (definition_id, coalesce(owner_id, ''), trigger_id) DO UPDATE SET
             id = CASE WHEN t.type = EXCLUDED.type THEN t.id ELSE EXCLUDED.id END,
             definition_version = EXCLUDED.definition_version, type = EXCLUDED.type, spec = EXCLUDED.spec, fingerprint = EXCLUDED.fingerprint,
             event_key = EXCLUDED.event_key, status = 'active', locked_until = NULL, version = t.version + 1, updated_at = EXCLUDED.updated_at,
             last_at = CASE WHEN ${kept} THEN t.last_at ELSE EXCLUDED.last_at END,
             next_at = CASE WHEN ${kept} THEN t.next_at ELSE EXCLUDED.next_at END
      RETURNING t.id)
    SELECT count(*)::int AS put FROM put`,
  };
}

/** $1 owner, $2 definition or null, $3 limit. */
export function listTriggers(t: TableNames, kind: ScopeKind): Statement {
  const scope = {
    all: '($1::text IS NULL OR true)',
    owner: '(t.owner_id = $1::text OR t.owner_id IS NULL)',
    ownerless: '(t.owner_id IS NULL AND $1::text IS NULL)',
  }[kind];
  return {
    name: `list-triggers-${kind}`,
    text: `
    SELECT ${TRIGGER_COLUMNS} FROM ${t.triggers} t WHERE ${scope} AND ($2::text IS NULL OR t.definition_id = $2)
     ORDER BY t.definition_id, ${OWNER}, t.trigger_id LIMIT $3`,
  };
}

/** Named as `TriggerRow` names them, of `t`. */
const TRIGGER_COLUMNS = `
  t.id, t.owner_id AS "ownerId", t.definition_id AS "definitionId", t.definition_version AS "definitionVersion", t.trigger_id AS "triggerId",
  t.type, t.spec::text AS spec, t.event_key AS "eventKey", t.status, ${isoText('t.last_at')} AS "lastAt", ${isoText('t.next_at')} AS "nextAt",
  t.last_run_id AS "lastRunId", t.last_outcome AS "lastOutcome", t.last_error AS "lastError", t.started, t.passed_over AS "passedOver"`;

/**
 * Schedules that are due and that nobody has, leased. The lease is of the clock itself, however far ahead `wake(now)` looks; whoever
 * dies with it costs that long. $1 offset ms, $2 ahead ms, $3 lease ms, $4 limit, $5 `SilenceLimits.sendMs`.
 */
export function claimSchedules(t: TableNames): Statement {
  const now = clock('$1');
  const due = `(${now} + ${milliseconds('$2::float8')})`;
  return {
    name: 'claim-schedules',
    text: `
    WITH due AS MATERIALIZED (
      SELECT id FROM ${t.triggers} WHERE next_at IS NOT NULL AND next_at <= ${due} AND (locked_until IS NULL OR locked_until <= ${now})
       ORDER BY next_at, id LIMIT $4 FOR NO KEY UPDATE SKIP LOCKED),
    up AS (
      UPDATE ${t.triggers} t SET locked_until = ${now} + ${milliseconds('$3::float8')}, version = t.version + 1 FROM due WHERE t.id = due.id RETURNING t.*)
    SELECT up.id, up.owner_id AS "ownerId", up.definition_id AS "definitionId", up.definition_version AS "definitionVersion", up.trigger_id AS "triggerId",
           up.spec::text AS spec, up.version, ${msOf('up.last_at')} AS cursor, ${msOf(due)} AS "asOf",
           EXISTS (SELECT 1 FROM ${t.runs} r WHERE r.id = up.last_run_id AND ${sameOwner('r', 'up')} AND r.status IN ${OPEN_RUN}) AS "lastRunOpen"
      FROM up WHERE ${sentInTime('$5')} ORDER BY up.next_at, up.id`,
  };
}

/** Where the version is no longer the claimer's nothing is written. $1 offset ms, $2 to $10 the moves. */
export function moveSchedules(t: TableNames): Statement {
  return {
    name: 'move-schedules',
    text: `
    WITH d AS MATERIALIZED (SELECT * FROM ${moveRows.source('x', 2)}),
    up AS (
      UPDATE ${t.triggers} t
         SET last_at = ${instantOf('d.cursor')}, next_at = ${instantOf('d.next')}, locked_until = NULL, version = t.version + 1,
             last_run_id = coalesce(d.run, t.last_run_id), last_outcome = coalesce(d.outcome, t.last_outcome),
             last_error = CASE WHEN d.outcome IS NULL THEN t.last_error ELSE d.error END,
             started = t.started + d.started, passed_over = t.passed_over + d.passed, updated_at = ${clock('$1')}
        FROM d WHERE t.id = d.id AND t.version = d.version AND t.status = 'active' RETURNING t.id)
    SELECT count(*)::int AS moved FROM up`,
  };
}

/** $1 offset ms, $2 ahead ms. */
export function nextSchedule(t: TableNames): Statement {
  const now = clock('$1');
  return {
    name: 'next-schedule',
    text: `
    SELECT (extract(epoch FROM min(next_at) - (${now} + ${milliseconds('$2::float8')})) * 1000)::float8 AS "inMs"
      FROM ${t.triggers} WHERE next_at IS NOT NULL AND (locked_until IS NULL OR locked_until <= ${now})`,
  };
}

const FOUND_COLUMNS = `
  t.id, t.owner_id AS "ownerId", t.definition_id AS "definitionId", t.definition_version AS "definitionVersion", t.trigger_id AS "triggerId",
  t.spec::text AS spec`;

/** Through triggers_event. An owner's own graph stands for the shared one of the same id. $1 key, $2 owner, $3 after id, $4 limit. */
export function findEventTriggers(t: TableNames): Statement {
  return {
    name: 'find-event-triggers',
    text: `
    SELECT ${FOUND_COLUMNS} FROM ${t.triggers} t
     WHERE t.event_key = $1::text AND t.event_key IS NOT NULL AND t.status = 'active' AND t.id > $3::uuid
       AND (t.owner_id = $2::text OR t.owner_id IS NULL AND ($2::text IS NULL OR NOT EXISTS (
             SELECT 1 FROM ${t.graphs} g
              WHERE g.definition_id = t.definition_id AND coalesce(g.owner_id, '') = $2 AND g.version IS NOT NULL AND g.status = 'published')))
     ORDER BY t.id LIMIT $4`,
  };
}

/** $1 id. */
export function findHook(t: TableNames): Statement {
  return {
    name: 'find-hook',
    text: `SELECT ${FOUND_COLUMNS} FROM ${t.triggers} t WHERE t.id = $1::uuid AND t.type = 'webhook' AND t.status = 'active'`,
  };
}

/** $1 offset ms, $2 id, $3 run id, $4 outcome, $5 error, $6 started, $7 passed over. */
export function noteTrigger(t: TableNames): Statement {
  return {
    name: 'note-trigger',
    text: `
    UPDATE ${t.triggers} t
       SET last_at = ${clock('$1')}, last_run_id = coalesce($3::uuid, t.last_run_id), last_outcome = coalesce($4::text, t.last_outcome), last_error = $5::text,
           started = t.started + $6::int, passed_over = t.passed_over + $7::int
     WHERE t.id = $2::uuid AND t.type <> 'schedule'`,
  };
}

/** A run and its parents, by their keys. A row that names another owner's run leads nowhere. $1 run id, $2 owner. */
export function readAncestry(t: TableNames): Statement {
  return {
    name: 'read-ancestry',
    text: `
    WITH RECURSIVE up AS (
      SELECT r.id, r.owner_id, r.parent_run_id, r.definition_id, r.origin::text AS origin, 0 AS step FROM ${t.runs} r
       WHERE r.id = $1::uuid AND r.owner_id IS NOT DISTINCT FROM $2::text
       UNION ALL
      SELECT r.id, r.owner_id, r.parent_run_id, r.definition_id, r.origin::text, up.step + 1 FROM up JOIN ${t.runs} r ON r.id = up.parent_run_id AND ${sameOwner('r', 'up')}
       WHERE up.step < ${MOST_ANCESTORS})
    SELECT definition_id AS "definitionId", origin FROM up ORDER BY step`,
  };
}

/** Nesting is limited to less; a circle that somebody wrote ends here. */
const MOST_ANCESTORS = 200;
