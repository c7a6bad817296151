import type { OutboxRow } from '../../../../engine/ports/index.js';
import type { Statement } from '../../../data-source/statement.js';
import type { TableNames } from '../../../table-names.js';
import { clock, isoText, milliseconds, OUTBOX_SLOTS, sameOwner } from '../sql.js';

/** Values of `outbox.state`. */
const WAITING = 0;
const DEAD = 1;

/** No relay with listeners has leased the slot for so many ms. */
const unheard = (now: string, forMs: string): string =>
  `(heard_at IS NULL OR heard_at < ${now} - ${milliseconds(forMs)})`;

/**
 * Keeps a relay's slots and takes free ones, $4 at most. $5 null: a relay with listeners, which marks them; else only slots
 * unheard for $5 ms. $1 offset ms, $2 relay id, $3 ttl ms.
 */
export function leaseSlots(t: TableNames): Statement {
  const now = clock('$1');
  return {
    name: 'lease-slots',
    text: `
    WITH fr AS MATERIALIZED (
      SELECT slot FROM ${t.outboxSlots} WHERE (locked_by = $2 OR locked_until IS NULL OR locked_until < ${now}) AND ($5::float8 IS NULL OR ${unheard(now, '$5::float8')})
       ORDER BY locked_by IS DISTINCT FROM $2, slot LIMIT $4 FOR UPDATE SKIP LOCKED)
    UPDATE ${t.outboxSlots} o SET locked_by = $2, locked_until = ${now} + ${milliseconds('$3::float8')},
           heard_at = CASE WHEN $5::float8 IS NULL THEN ${now} ELSE o.heard_at END FROM fr WHERE o.slot = fr.slot RETURNING o.slot`,
  };
}

/** $1 relay id. */
export function releaseSlots(t: TableNames): Statement {
  return {
    name: 'release-slots',
    text: `UPDATE ${t.outboxSlots} SET locked_by = NULL, locked_until = NULL WHERE locked_by = $1 RETURNING slot`,
  };
}

/** Slots among $3 that relay $2 still holds: a relay that was stopped past its lease reads and deletes nothing. */
const held = (t: TableNames, now: string): string =>
  `(SELECT slot FROM ${t.outboxSlots} WHERE locked_by = $2 AND locked_until > ${now} AND slot = ANY ($3::smallint[]))`;

/** With the run that it is about. Of a definition there is none; rows that are about neither are told to nobody. */
const withRun = (t: TableNames): string =>
  `LEFT JOIN ${t.runs} r ON r.id = o.run_id AND ${sameOwner('r', 'o')} AND o.definition_id IS NULL`;
const ABOUT_ONE = `(r.id IS NOT NULL OR o.definition_id IS NOT NULL)`;

const outboxColumns = `
  o.id::text AS id, r.id AS "runId", o.run_id AS "seriesId", coalesce(r.definition_id, o.definition_id) AS "definitionId",
  coalesce(r.definition_version, o.definition_version) AS "definitionVersion", r.definition_key AS "definitionKey", o.owner_id AS "ownerId",
  r.subject_type AS "subjectType", r.subject_id AS "subjectId", coalesce(r.actor::text, o.actor::text) AS actor, r.trace, o.events::text AS events, o.delivered, o.attempts, ${isoText('o.created_at')} AS "createdAt"`;

/**
 * Events in order. A run one of whose rows waits for a later try is held back from that row on: the third event of a run
 * waits for the second (fault J6), other runs go on. $1 offset ms, $2 relay id, $3 slots, $4 limit.
 */
export function readOutbox(t: TableNames): Statement {
  const now = clock('$1');
  return {
    name: 'read-outbox',
    text: `
    WITH wt AS MATERIALIZED (
      SELECT run_id, owner_id, min(id) AS id FROM ${t.outbox} WHERE state = ${WAITING} AND next_at > ${now} GROUP BY run_id, owner_id)
    SELECT ${outboxColumns}
      FROM ${t.outbox} o ${withRun(t)} LEFT JOIN wt ON wt.run_id = o.run_id AND ${sameOwner('wt', 'o')} AND wt.id <= o.id
     WHERE o.state = ${WAITING} AND o.slot IN ${held(t, now)} AND wt.id IS NULL AND ${ABOUT_ONE}
     ORDER BY o.id LIMIT $4`,
  };
}

/** $1 ids. */
export function ackOutbox(t: TableNames): Statement {
  return { name: 'ack-outbox', text: `DELETE FROM ${t.outbox} WHERE id = ANY ($1::bigint[]) RETURNING id` };
}

/** $1 offset ms, $2 id, $3 delivered, $4 message, $5 retry in ms or null (dead letter). */
export function failOutbox(t: TableNames): Statement {
  return {
    name: 'fail-outbox',
    text: `
    UPDATE ${t.outbox} SET delivered = $3, attempts = attempts + 1, error = $4, state = CASE WHEN $5::float8 IS NULL THEN ${DEAD} ELSE ${WAITING} END,
           next_at = ${clock('$1')} + ${milliseconds('$5::float8')}
     WHERE id = $2::bigint RETURNING id`,
  };
}

/**
 * Removes events that nobody came to hear (EVT-1).
 *
 * A pass mostly meets rows that are still young, many of them: a slot whose first row is young costs one look at that row,
 * another one at most its share of $4. Rows behind young ones are taken for younger. No locks to skip: the slots are held,
 * so nobody else is at these rows. With 200,000 rows: 0.4 ms when all are young, 25 ms for 5,000 that go. $1 offset ms, $2 relay id, $3 slots, $4 limit, $5 older
 * than ms, $6 unheard for ms.
 */
export function discardOutbox(t: TableNames): Statement {
  const now = clock('$1');
  const first = (columns: string, slot: string, limit: string): string =>
    `SELECT ${columns} FROM ${t.outbox} WHERE state = ${WAITING} AND slot = ${slot} ORDER BY id LIMIT ${limit}`;
  const old = `<= ${now} - ${milliseconds('$5::float8')}`;
  return {
    name: 'discard-outbox',
    text: `
    WITH s AS MATERIALIZED (
      SELECT l.slot FROM ${t.outboxSlots} l WHERE l.slot IN ${held(t, now)} AND ${unheard(now, '$6::float8')} AND (${first('created_at', 'l.slot', '1')}) ${old}),
    gone AS (
      DELETE FROM ${t.outbox} WHERE state = ${WAITING} AND id IN (
        SELECT p.id FROM s CROSS JOIN LATERAL (${first('id, created_at', 's.slot', `greatest(1, $4::int / ${OUTBOX_SLOTS})`)}) p WHERE p.created_at ${old})
      RETURNING 1)
    SELECT count(*)::int AS discarded FROM gone`,
  };
}

/** $1 limit. */
export function listDeadLetters(t: TableNames): Statement {
  return {
    name: 'list-dead-letters',
    text: `SELECT ${outboxColumns}, o.error FROM ${t.outbox} o ${withRun(t)} WHERE o.state = ${DEAD} AND ${ABOUT_ONE} ORDER BY o.id LIMIT $1`,
  };
}

/** $1 ids. */
export function replayDeadLetters(t: TableNames): Statement {
  return {
    name: 'replay-dead-letters',
    text: `
    WITH replayed AS (
      UPDATE ${t.outbox} SET state = ${WAITING}, attempts = 0, next_at = NULL, error = NULL WHERE state = ${DEAD} AND id = ANY ($1::bigint[]) RETURNING id, run_id, owner_id, definition_id)
    SELECT o.id::text AS id, r.id AS "runId", o.owner_id AS "ownerId"
      FROM replayed o ${withRun(t)} WHERE ${ABOUT_ONE}`,
  };
}

export type { OutboxRow };
