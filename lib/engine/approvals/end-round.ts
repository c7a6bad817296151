import { RemindedTooSoonError } from '../../errors/index.js';
import { closed, resolvedEvent } from './decide-round.js';
import type { ApprovalAnswer, ApprovalRound } from './round.js';
import { changed, refused, REPEATED, type RoundAnswer } from './round-change.js';
import { approvalEvent, askedOf } from './round-events.js';

/** Ends a round from outside, whatever its rule says. */
export function closeRound(
  round: ApprovalRound,
  {
    by,
    outcome,
    reason,
  }: { readonly by: string | null; readonly outcome: ApprovalAnswer; readonly reason: string | null },
): RoundAnswer {
  if (round.status === outcome && round.endedBy === by && round.endedBy !== null) return REPEATED;
  if (round.status !== 'open') return refused(closed(round));
  const ended = { status: outcome, by, reason };
  return changed({ ended, events: [resolvedEvent(round, ended)] });
}

/**
 * Ends a round whose time is over; one that is open yet, or has ended, stays as it is.
 *
 * @param isOver whether the row still says that it is open
 */
export function expireRound(round: ApprovalRound, isOver: boolean): RoundAnswer {
  if (round.status !== 'expired' || !isOver) return REPEATED;
  const ended = { status: 'expired' as const, by: null, reason: null };
  return changed({ ended, events: [resolvedEvent(round, ended)] });
}

/**
 * Reminds those who have still to answer, once in `everyMs` (fault K44).
 *
 * @param at the instant of the transaction, ISO 8601
 */
export function remindRound(
  round: ApprovalRound,
  { by, everyMs }: { readonly by: string | null; readonly everyMs: number },
  at: string,
): RoundAnswer {
  if (round.status !== 'open') return refused(closed(round));
  const possibleAt = round.remindedAt === null ? -Infinity : Date.parse(round.remindedAt) + everyMs;
  if (Date.parse(at) < possibleAt) return refused(new RemindedTooSoonError({ round: round.id, possibleAt }));
  const data = { by, approvers: askedOf(round), expiresAt: round.expiresAt };
  return changed({ reminded: true, events: [approvalEvent('approval:reminded', round, data)] });
}
