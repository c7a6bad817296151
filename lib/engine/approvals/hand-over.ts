import { DelegationRefusedError, SeatDecidedError } from '../../errors/index.js';
import { closed, notAnApprover, seatHeldBy } from './decide-round.js';
import { decisionOf, type ApprovalRound, type Handover, type Seat } from './round.js';
import { changed, refused, REPEATED, type RoundAnswer } from './round-change.js';
import { approvalEvent } from './round-events.js';

/**
 * Hands a seat to somebody else, who decides in its place from now on; who handed over can't any more. A delegate may hand on.
 * In one stage of approval nobody holds two seats: two must agree stays two people.
 */
export function delegateSeat(
  round: ApprovalRound,
  { by, to, reason }: { readonly by: string; readonly to: string; readonly reason: string | null },
  at: string,
): RoundAnswer {
  if (round.status !== 'open') return refused(closed(round));
  const seat = seatHeldBy(round, by);
  if (!seat) return handedTo(round, by, to) ? REPEATED : refused(notAnApprover(round, by));
  const why = whyNotTo(round, seat, to);
  if (why !== null) return refused(new DelegationRefusedError({ round: round.id, to, why }));
  const decided = refuseDecided(round, seat);
  if (decided) return decided;
  return moved(round, seat, [...seat.path, { from: by, to, reason, at }], by, reason);
}

/** Takes back what one handed over, from whoever holds it now. Not once it is decided: who decided may withdraw that before. */
export function revokeDelegation(
  round: ApprovalRound,
  { by, reason }: { readonly by: string; readonly reason: string | null },
): RoundAnswer {
  if (round.status !== 'open') return refused(closed(round));
  const seat = round.seats.find(({ stage, path }) => stage === round.stage && path.some(({ from }) => from === by));
  if (!seat) return seatHeldBy(round, by) ? REPEATED : refused(notAnApprover(round, by));
  if (seat.holder === by) return REPEATED;
  const decided = refuseDecided(round, seat);
  if (decided) return decided;
  const first = seat.path.findIndex(({ from }) => from === by);
  return moved(round, seat, seat.path.slice(0, first), by, reason);
}

function moved(
  round: ApprovalRound,
  { stage, approver, holder: from }: Seat,
  path: readonly Handover[],
  by: string,
  reason: string | null,
): RoundAnswer {
  const holder = path.at(-1)?.to ?? approver;
  const told = approvalEvent('approval:delegated', round, { approver, from, to: holder, by, reason });
  return changed({ seat: { stage, approver, holder, path }, events: [told] });
}

function whyNotTo(round: ApprovalRound, seat: Seat, to: string): string | null {
  const { terms, requester, seats, stage } = round;
  if (!terms.delegation) return 'this approval does not allow it';
  if (to === seat.holder) return 'they hold it already';
  if (to === requester && !terms.ownRequest) return 'who asks for something does not decide it';
  const others = seats.filter((other) => other.stage === stage && other.approver !== seat.approver);
  const busy = others.some(({ approver, holder }) => approver === to || holder === to);
  return busy ? 'they are asked themselves' : null;
}

const handedTo = (round: ApprovalRound, by: string, to: string): boolean =>
  round.seats.some(({ stage, holder, path }) => stage === round.stage && holder === to && path.at(-1)?.from === by);

function refuseDecided(round: ApprovalRound, seat: Seat): RoundAnswer | null {
  const decision = decisionOf(round, seat);
  return decision ? refused(new SeatDecidedError({ round: round.id, person: decision.by })) : null;
}
