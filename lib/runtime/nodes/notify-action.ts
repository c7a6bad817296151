import type { Notified } from '../../engine/state/escalation-events.js';
import { NoRecipientsError } from '../../errors/index.js';
import type { EscalationBody } from './escalation-actions.js';
import { escalatedTo } from './people.js';

/**
 * `notify`: finds out who is to be told. Telling is the host's: the record of it writes `escalation:notified` with these ids, once.
 *
 * @throws NoRecipientsError: nobody is told, and somebody has to know that (fault K45)
 */
export const notifyAction: EscalationBody = async (work): Promise<Notified> => {
  const { message = null } = work.escalation.action as { readonly message?: string };
  const to = (await escalatedTo(work)).map(({ id }) => id);
  if (to.length === 0) throw new NoRecipientsError({ escalation: work.ctx.stage.key });
  return { to, message };
};
