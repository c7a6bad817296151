import type { ApprovalRound, Decision, Seat } from '../../../../engine/approvals/index.js';
import type { TableNames } from '../../../table-names.js';
import { clock, isoText, OPEN_RUN, OPEN_STAGE_RUN, sameOwner } from '../sql.js';

/** A round with its run and its stage run: `a`, `r`, `g`. A row whose owner is not its run's is nobody's. */
export const roundSource = (t: TableNames): string => `
  ${t.approvalRounds} a JOIN ${t.runs} r ON r.id = a.run_id AND ${sameOwner('r', 'a')}
    JOIN ${t.stageRuns} g ON g.id = a.stage_run_id AND g.run_id = a.run_id AND ${sameOwner('g', 'a')}`;

/** As `roundSignal` begins, which the contract's tests hold together. */
export const ROUND_SIGNAL = 'approval:';
const SIGNAL = `'${ROUND_SIGNAL}' || a.id::text`;

/**
 * What a round is, whatever its row says: not open once its visit has ended or was opened anew by hand, its time is over, or the wait
 * for it was. The last by the ledger, by its key: a wake pass may look ahead of the clock.
 */
export function roundStatus(t: TableNames, offset: string): string {
  return `
  CASE WHEN a.status <> 'open' THEN a.status
       WHEN r.status NOT IN ${OPEN_RUN} OR g.status NOT IN ${OPEN_STAGE_RUN} OR g.budget_from <> a.budget THEN 'cancelled'
       WHEN a.expires_at <= ${clock(offset)}
         OR EXISTS (SELECT 1 FROM ${t.steps} w WHERE w.stage_run_id = a.stage_run_id AND ${sameOwner('w', 'a')} AND w.kind = 'signal' AND w.event_key = ${SIGNAL} AND w.timed_out) THEN 'expired'
       ELSE 'open' END`;
}

/** All of a round, as JSON where it is many. */
export function roundColumns(t: TableNames, offset: string): string {
  return `
  a.id, a.run_id AS "runId", a.stage_run_id AS "stageRunId", a.owner_id AS "ownerId", a.node, ${roundStatus(t, offset)} AS status,
  a.status = 'open' AS unended, a.stage, a.terms::text AS terms, a.requester, ${isoText('a.opened_at')} AS "openedAt", ${isoText('a.expires_at')} AS "expiresAt",
  ${isoText('a.ended_at')} AS "endedAt", a.ended_by AS "endedBy", a.end_reason AS "endReason", ${isoText('a.reminded_at')} AS "remindedAt",
  ${isoText(clock(offset))} AS now,
  (SELECT json_agg(json_build_array(k.stage, k.approver, k.groups, k.weight, k.holder, k.path) ORDER BY k.stage, k.place)
     FROM ${t.approvalAsks} k WHERE k.round_id = a.id AND ${sameOwner('k', 'a')})::text AS seats,
  (SELECT json_agg(json_build_array(d.id, d.stage, d.approver, d.decided_by, d.answer, d.reason, d.comment, ${isoText('d.decided_at')}, d.withdrawn) ORDER BY d.nr)
     FROM ${t.approvalDecisions} d WHERE d.round_id = a.id AND ${sameOwner('d', 'a')})::text AS decisions`;
}

type Plain = Omit<ApprovalRound, 'terms' | 'seats' | 'decisions'>;

export interface RoundRow extends Plain {
  readonly unended: boolean;
  readonly terms: string;
  readonly seats: string | null;
  readonly decisions: string | null;
  readonly now: string;
}

type SeatTuple = [Seat['stage'], string, string[], number, string, Seat['path']];
type DecisionTuple = [
  string,
  number,
  string,
  string,
  Decision['answer'],
  string | null,
  string | null,
  string,
  boolean,
];

export function approvalRound({
  unended: _unended,
  now: _now,
  terms,
  seats,
  decisions,
  ...row
}: RoundRow): ApprovalRound {
  return {
    ...row,
    terms: JSON.parse(terms) as ApprovalRound['terms'],
    seats: seats === null ? [] : (JSON.parse(seats) as SeatTuple[]).map(seat),
    decisions: decisions === null ? [] : (JSON.parse(decisions) as DecisionTuple[]).map(decision),
  };
}

const seat = ([stage, approver, groups, weight, holder, path]: SeatTuple): Seat => ({
  stage,
  approver,
  groups,
  weight,
  holder,
  path,
});

const decision = ([id, stage, approver, by, answer, reason, comment, at, withdrawn]: DecisionTuple): Decision => ({
  id,
  stage,
  approver,
  by,
  answer,
  reason,
  comment,
  at,
  withdrawn,
});
