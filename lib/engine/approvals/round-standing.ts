import { isFulfilled, missingFor, type Missing } from './approval-rule.js';
import { decisionOf, seatsOf, type ApprovalRound, type Decision, type Seat } from './round.js';

/** How a stage of approval stands by what was decided. */
export interface StageStanding {
  /**
   * `rejected` as soon as the rule could not be fulfilled even if all others agreed, and not before: one no among many may
   * leave enough yeses (fault I3).
   */
  readonly result: 'approved' | 'rejected' | 'open';
  readonly approved: readonly Decided[];
  readonly rejected: readonly Decided[];
  /** Seats without a decision. */
  readonly open: readonly Seat[];
  /** What agreement is still missing; null once there is enough. */
  readonly missing: Missing | null;
}

export interface Decided {
  readonly seat: Seat;
  readonly decision: Decision;
}

export function stageStanding(
  round: Pick<ApprovalRound, 'seats' | 'decisions' | 'terms'>,
  stage: number,
): StageStanding {
  const seats = seatsOf(round, stage);
  const { rule } = round.terms.stages[stage]!;
  const decided = seats.flatMap((seat) => {
    const decision = decisionOf(round, seat);
    return decision ? [{ seat, decision }] : [];
  });
  const approved = decided.filter(({ decision }) => decision.answer === 'approved');
  const rejected = decided.filter(({ decision }) => decision.answer === 'rejected');
  const open = seats.filter((seat) => !decided.some((one) => one.seat === seat));
  const agreed = approved.map(({ seat }) => seat);
  const missing = missingFor(rule, seats, agreed);
  const possible = isFulfilled(rule, seats, [...agreed, ...open]);
  const result = missing === null ? 'approved' : possible ? 'open' : 'rejected';
  return { result, approved, rejected, open, missing };
}
