import { readApprovers } from '../../engine/approvals/index.js';
import type { CompiledEscalation } from '../../engine/graph/index.js';
import type { Notified } from '../../engine/state/escalation-events.js';
import { NoRecipientsError } from '../../errors/index.js';
import type { EscalationBody, EscalationWork } from './escalation-actions.js';

/**
 * `notify`: finds out who is to be told. Telling is the host's: the record of it writes `escalation:notified` with these ids, once.
 *
 * @throws NoRecipientsError: nobody is told, and somebody has to know that (fault K45)
 */
export const notifyAction: EscalationBody = async (work): Promise<Notified> => {
  const { message = null } = work.escalation.action as { readonly message?: string };
  const to = await peopleOf(work, work.escalation.to);
  if (to.length === 0) throw new NoRecipientsError({ escalation: work.ctx.stage.key });
  return { to, message };
};

/** Who they are at this moment, on live data, each once (fault K41). @throws ExpressionFailedError, InvalidApproversError */
async function peopleOf({ ctx, values }: EscalationWork, to: CompiledEscalation['to']): Promise<readonly string[]> {
  if (to === null) return [];
  const given: unknown = 'evaluate' in to ? await values.evaluate(to) : to;
  return readApprovers(given, ctx.stage.key).map(({ id }) => id);
}
