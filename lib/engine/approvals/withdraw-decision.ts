import { NothingToWithdrawError } from '../../errors/index.js';
import { closed } from './decide-round.js';
import type { ApprovalRound } from './round.js';
import { changed, refused, REPEATED, type RoundAnswer } from './round-change.js';
import { approvalEvent } from './round-events.js';

/**
 * Takes back one's own decision, in the stage of approval that is asked: what an earlier stage came to stands (fault I3), and so does
 * what a former holder of the seat decided.
 */
export function withdrawDecision(
  round: ApprovalRound,
  { by, reason }: { readonly by: string; readonly reason: string | null },
): RoundAnswer {
  if (round.status !== 'open') return refused(closed(round));
  const own = round.decisions.filter((one) => one.by === by && one.stage === round.stage);
  const decision = own.find(({ withdrawn }) => !withdrawn);
  const holds = round.seats.some(({ stage, holder }) => stage === round.stage && holder === by);
  if (decision && holds) {
    const told = approvalEvent('approval:withdrawn', round, { by, answer: decision.answer, reason });
    return changed({ withdrawn: decision.id, events: [told] });
  }
  if (own.length > 0 && holds) return REPEATED;
  return refused(new NothingToWithdrawError({ round: round.id, person: by }));
}
