import type { ApprovalRound, RoundChange, Seat } from '../../../../engine/approvals/index.js';
import type { NewRound } from '../../../../engine/ports/index.js';
import type { EngineEvent } from '../../../../engine/state/rows.js';
import type { Statement } from '../../../data-source/statement.js';
import type { TableNames } from '../../../table-names.js';
import { RowSet } from '../row-set.js';
import { clock, isoText, milliseconds, OPEN_RUN, OPEN_STAGE_RUN, sameOwner, slotOf } from '../sql.js';
import { roundColumns, roundSource, roundStatus } from './approval-rows.js';
import { FORGED_ARE_GONE } from './forged-steps.js';
import { inScope, type ScopeKind } from './read-statements.js';

/** A round. $1 owner, $2 round id, $3 offset ms. */
export function getRound(t: TableNames, kind: ScopeKind): Statement {
  return {
    name: `get-round-${kind}`,
    text: `SELECT ${roundColumns(t, '$3')} FROM ${roundSource(t)} WHERE a.id = $2::uuid AND ${inScope(kind)}`,
  };
}

/** The round of a visit, since it was last opened by hand. $1 offset ms, $2 run id, $3 stage run id. */
export function findRound(t: TableNames): Statement {
  return {
    name: 'find-round',
    text: `
    SELECT ${roundColumns(t, '$1')} FROM ${roundSource(t)}
     WHERE a.stage_run_id = $3::uuid AND a.run_id = $2::uuid AND a.budget = g.budget_from`,
  };
}

/** The round of the visit that an escalation stands beside, by node, visit and the key before its level. $1 offset ms, $2 run id, $3 stage run id. */
export function findRoundBeside(t: TableNames): Statement {
  return {
    name: 'find-round-beside',
    text: `
    SELECT ${roundColumns(t, '$1')} FROM ${roundSource(t)} JOIN ${t.stageRuns} e ON e.run_id = a.run_id AND ${sameOwner('e', 'a')}
     WHERE e.id = $3::uuid AND a.run_id = $2::uuid AND a.budget = g.budget_from
       AND g.generation = e.generation AND g.node = e.node AND g.visit = e.visit AND g.key = split_part(e.key, '#', 1)`,
  };
}

/** The run of a round, locked: first of what changes it, and waited for. What the round is, the next statement reads. $1 owner, $2 round id, $3 run id. */
export function lockRoundRun(t: TableNames, kind: ScopeKind): Statement {
  return {
    name: `lock-round-run-${kind}`,
    text: `
    SELECT r.id, r.owner_id AS "ownerId" FROM ${t.runs} r
     WHERE r.id = $3::uuid AND ${inScope(kind)} AND EXISTS (SELECT 1 FROM ${t.approvalRounds} a WHERE a.id = $2::uuid AND a.run_id = r.id AND ${sameOwner('a', 'r')})
       FOR NO KEY UPDATE`,
  };
}

export interface VisitRow {
  readonly budget: number;
}

/** Whether a visit is open, after its run was locked. $1 run id, $2 stage run id. */
export function readVisit(t: TableNames): Statement {
  return {
    name: 'read-visit',
    text: `
    SELECT g.budget_from AS budget FROM ${t.runs} r JOIN ${t.stageRuns} g ON g.run_id = r.id AND ${sameOwner('g', 'r')}
     WHERE r.id = $1::uuid AND g.id = $2::uuid AND r.status IN ${OPEN_RUN} AND g.status IN ${OPEN_STAGE_RUN}`,
  };
}

interface SeatRow {
  stage: number;
  approver: string;
  place: number;
  grps: string;
  weight: number;
  holder: string;
  path: string;
}
const seatRows = new RowSet<SeatRow>({
  stage: 'int',
  approver: 'text',
  place: 'int',
  grps: 'json',
  weight: 'float8',
  holder: 'text',
  path: 'json',
});

/**
 * A round with its seats; those of the first stage are asked at once. Under the lock of its run, after it was seen that there is none:
 * what stands in its way by its keys, or would be among its seats, somebody else has forged, and it goes.
 * $1 offset ms, $2 id, $3 run id, $4 stage run id, $5 budget, $6 node, $7 terms, $8 requester, $9 ms until it expires, $10 on the seats.
 */
export function openRound(t: TableNames): Statement {
  const now = clock('$1');
  return {
    name: 'open-round',
    text: `
    WITH r AS MATERIALIZED (SELECT id, owner_id FROM ${t.runs} WHERE id = $3::uuid),
    fr AS (
      DELETE FROM ${t.approvalRounds} o USING r
       WHERE (o.id = $2::uuid OR o.stage_run_id = $4::uuid AND o.budget = $5::int) AND NOT (${sameOwner('o', 'r')}) RETURNING 1),
    fk AS (DELETE FROM ${t.approvalAsks} o USING r WHERE o.round_id = $2::uuid AND NOT (${sameOwner('o', 'r')}) RETURNING 1),
    forged AS (SELECT 1 FROM fr UNION ALL SELECT 1 FROM fk),
    a AS (
      INSERT INTO ${t.approvalRounds} (id, run_id, stage_run_id, owner_id, budget, node, terms, requester, opened_at, expires_at)
      SELECT $2::uuid, r.id, $4::uuid, r.owner_id, $5::int, $6::text, $7::json, $8::text, ${now}, ${now} + ${milliseconds('$9::float8')}
        FROM r WHERE ${FORGED_ARE_GONE} RETURNING id, run_id, owner_id),
    k AS (
      INSERT INTO ${t.approvalAsks} (round_id, stage, approver, run_id, owner_id, place, groups, weight, holder, path, open)
      SELECT a.id, x.stage, x.approver, a.run_id, a.owner_id, x.place, x.grps, x.weight, x.holder, x.path, x.stage = 0
        FROM ${seatRows.source('x', 10)} CROSS JOIN a)
    SELECT id FROM a`,
  };
}

export function openValues(
  offsetMs: number,
  runId: string,
  stageRunId: string,
  budget: number,
  round: NewRound,
): unknown[] {
  const { id, node, terms, requester, expiresInMs, seats } = round;
  return [
    ...[offsetMs, id, runId, stageRunId, budget, node, JSON.stringify(terms), requester, expiresInMs],
    ...seatRows.values(seatRowsOf(seats, 0)),
  ];
}

/** @param from how many there are before them */
const seatRowsOf = (seats: readonly Seat[], from: number): SeatRow[] =>
  seats.map(({ groups, path, ...seat }, at) => ({
    ...seat,
    place: from + at,
    grps: JSON.stringify(groups),
    path: JSON.stringify(path),
  }));

/**
 * Writes what becomes of a round whose run is locked. Who is asked follows from it: seats of the stage of approval that is asked,
 * without a decision that stands, of a round that has not ended. Of the seats only those that change are written: there may be hundreds.
 * Rows of other owners that name the round count for nothing; those in the way of seats that come are removed, where the session sees
 * them, which is the engine's.
 *
 * $1 offset ms, $2 round id, $3 to $9 the decision (id or null, stage, approver, by, answer, reason, comment), $10 id of the one that is
 * withdrawn, $11 to $14 the seat that moves (stage or null, approver, holder, path), $15 stage of approval from now on, $16 to $18
 * the end (status or null, by, reason), $19 reminded, $20 on the seats that come.
 */
export function changeRound(t: TableNames): Statement {
  const now = clock('$1');
  return {
    name: 'change-round',
    text: `
    WITH a AS (
      UPDATE ${t.approvalRounds} SET stage = coalesce($15::int, stage), status = coalesce($16::text, status), ended_at = CASE WHEN $16::text IS NULL THEN ended_at ELSE ${now} END,
             ended_by = CASE WHEN $16::text IS NULL THEN ended_by ELSE $17::text END, end_reason = CASE WHEN $16::text IS NULL THEN end_reason ELSE $18::text END,
             reminded_at = CASE WHEN $19::boolean THEN ${now} ELSE reminded_at END
       WHERE id = $2::uuid RETURNING id, run_id, owner_id, stage, status),
    w AS (UPDATE ${t.approvalDecisions} d SET withdrawn = true FROM a WHERE d.round_id = a.id AND ${sameOwner('d', 'a')} AND d.id = $10::text),
    d AS (
      INSERT INTO ${t.approvalDecisions} (round_id, id, run_id, owner_id, stage, approver, decided_by, answer, reason, comment, decided_at)
      SELECT a.id, $3::text, a.run_id, a.owner_id, $4::int, $5::text, $6::text, $7::text, $8::text, $9::text, ${now} FROM a WHERE $3::text IS NOT NULL
      RETURNING stage, approver),
    stands AS (
      SELECT o.stage, o.approver FROM ${t.approvalDecisions} o JOIN a ON o.round_id = a.id AND ${sameOwner('o', 'a')} WHERE NOT o.withdrawn AND o.id IS DISTINCT FROM $10::text
      UNION ALL SELECT stage, approver FROM d),
    seats AS (
      SELECT k.stage, k.approver, k.open AS was_open, k.stage = $11::int AND k.approver = $12::text AS moves,
             a.status = 'open' AND k.stage = a.stage AND NOT EXISTS (SELECT 1 FROM stands s WHERE s.stage = k.stage AND s.approver = k.approver) AS open
        FROM ${t.approvalAsks} k JOIN a ON k.round_id = a.id AND ${sameOwner('k', 'a')}),
    k AS (
      UPDATE ${t.approvalAsks} k
         SET holder = CASE WHEN s.moves THEN $13::text ELSE k.holder END, path = CASE WHEN s.moves THEN $14::json ELSE k.path END, open = s.open
        FROM a JOIN seats s ON s.moves OR s.open <> s.was_open WHERE k.round_id = a.id AND k.stage = s.stage AND k.approver = s.approver),
    forged AS (DELETE FROM ${t.approvalAsks} o USING a WHERE o.round_id = a.id AND NOT (${sameOwner('o', 'a')}) RETURNING 1),
    n AS (
      INSERT INTO ${t.approvalAsks} (round_id, stage, approver, run_id, owner_id, place, groups, weight, holder, path, open)
      SELECT a.id, x.stage, x.approver, a.run_id, a.owner_id, x.place, x.grps, x.weight, x.holder, x.path, a.status = 'open' AND x.stage = a.stage
        FROM ${seatRows.source('x', 20)} CROSS JOIN a WHERE ${FORGED_ARE_GONE})
    SELECT id FROM a`,
  };
}

/** @param round as it was found */
export function changeValues(offsetMs: number, round: ApprovalRound, change: RoundChange): unknown[] {
  const { decision, withdrawn = null, seat, added = [], stage = null, ended, reminded = false } = change;
  return [
    ...[offsetMs, round.id, decision?.id ?? null, decision?.stage ?? null, decision?.approver ?? null],
    ...[decision?.by ?? null, decision?.answer ?? null, decision?.reason ?? null, decision?.comment ?? null, withdrawn],
    ...[seat?.stage ?? null, seat?.approver ?? null, seat?.holder ?? null, seat ? JSON.stringify(seat.path) : null],
    ...[stage, ended?.status ?? null, ended?.by ?? null, ended?.reason ?? null, reminded],
    ...seatRows.values(seatRowsOf(added, round.seats.length)),
  ];
}

/** Tells of a run whose lock is held: the ids of its events follow the order of their commits. $1 offset ms, $2 run id, $3 events. */
export function tellOfRun(t: TableNames): Statement {
  return {
    name: 'tell-of-run',
    text: `
    INSERT INTO ${t.outbox} (run_id, owner_id, slot, events, created_at)
    SELECT r.id, r.owner_id, ${slotOf('r.id')}, $3::json, ${clock('$1')} FROM ${t.runs} r WHERE r.id = $2::uuid RETURNING id`,
  };
}

export const eventsText = (events: readonly EngineEvent[]): string => JSON.stringify(events);

export interface AskRow {
  readonly roundId: string;
  readonly runId: string;
  readonly ownerId: string | null;
  readonly definitionId: string;
  readonly subjectType: string | null;
  readonly subjectId: string | null;
  readonly node: string;
  readonly stage: number;
  readonly terms: string;
  readonly approver: string;
  readonly requester: string | null;
  readonly openedAt: string;
  readonly expiresAt: string | null;
}

/**
 * An inbox, newest rounds first, by the index of who is asked: $1 owner, $2 offset ms, $3 holder, $4 before round id, $5 limit. A row that
 * is open yet, of a round that is not, is passed over.
 */
export function listAsks(t: TableNames, kind: ScopeKind): Statement {
  const owned = { all: 'true', owner: 'k.owner_id = $1::text', ownerless: 'k.owner_id IS NULL' }[kind];
  return {
    name: `list-asks-${kind}`,
    text: `
    SELECT a.id AS "roundId", a.run_id AS "runId", a.owner_id AS "ownerId", r.definition_id AS "definitionId", r.subject_type AS "subjectType", r.subject_id AS "subjectId",
           a.node, k.stage, a.terms::text AS terms, k.approver, a.requester, ${isoText('a.opened_at')} AS "openedAt",
           ${isoText('a.expires_at')} AS "expiresAt"
      FROM ${t.approvalAsks} k CROSS JOIN LATERAL (SELECT * FROM ${t.approvalRounds} o WHERE o.id = k.round_id AND ${sameOwner('o', 'k')} AND o.stage = k.stage) a
      JOIN ${t.runs} r ON r.id = a.run_id AND ${sameOwner('r', 'a')} JOIN ${t.stageRuns} g ON g.id = a.stage_run_id AND g.run_id = a.run_id AND ${sameOwner('g', 'a')}
     WHERE k.open AND k.holder = $3::text AND ${owned} AND ${inScope(kind)} AND ($4::uuid IS NULL OR k.round_id < $4) AND ${roundStatus(t, '$2')} = 'open'
     ORDER BY k.round_id DESC LIMIT $5`,
  };
}
