import { ApprovalCannotPassError, NoApproversError } from '../../errors/index.js';
import { whyNever } from './approval-rule.js';
import type { Approver } from './approvers.js';
import { closed } from './decide-round.js';
import { seatsAt } from './new-round.js';
import { seatsOf, type ApprovalRound, type Seat } from './round.js';
import { changed, refused, REPEATED, type RoundAnswer } from './round-change.js';
import { approvalEvent } from './round-events.js';

export interface AddedApprovers {
  readonly approvers: readonly Approver[];
  /** Id of the stage run of the escalation that adds them. */
  readonly escalation: string;
}

/**
 * Asks more people in the stage of approval that is asked, beside those who are: each with a seat of his own, as resolved now. Who is
 * asked there already stays as he is; who asks for the approval is left out, as when it was opened. It never ends a round: nobody who
 * comes can make less agreement possible.
 */
export function addApprovers(round: ApprovalRound, { approvers, escalation }: AddedApprovers): RoundAnswer {
  if (round.status !== 'open') return refused(closed(round));
  const { node, stage, terms } = round;
  const { rule, name } = terms.stages[stage]!;
  const allowed = approvers.filter(({ id }) => mayDecide(round, id));
  if (allowed.length === 0) {
    const requester = approvers.length > 0 ? (round.requester ?? undefined) : undefined;
    return refused(new NoApproversError({ node, stage: name ?? undefined, requester }));
  }
  const seats = seatsOf(round, stage);
  const added = seatsAt(stage, { rule, approvers: allowed.filter(({ id }) => !isSeated(seats, id)) });
  if (added.length === 0) return REPEATED;
  const reason = whyNever(rule, [...seats, ...added]);
  if (reason !== null) return refused(new ApprovalCannotPassError({ node, reason }));
  const told = { escalation, approvers: added.map(({ approver }) => approver) };
  return changed({ added, events: [approvalEvent('approval:reassigned', round, told)] });
}

/** Of these people those whom a round asks, or has asked, in the stage of approval that it is at. */
export function askedAmong(round: ApprovalRound, approvers: readonly Approver[]): string[] {
  const seats = seatsOf(round, round.stage);
  return approvers.filter(({ id }) => isSeated(seats, id)).map(({ id }) => id);
}

const mayDecide = ({ requester, terms }: ApprovalRound, id: string): boolean => terms.ownRequest || id !== requester;

/** One person has one voice: also who handed his seat over, and who was given one. */
const isSeated = (seats: readonly Seat[], id: string): boolean =>
  seats.some(({ approver, holder }) => approver === id || holder === id);
