import type { StageContext } from 'nestjs-workflow-engine';
import type { Mail, MailService } from './mail.service.js';

/**
 * Sends a mail as a durable step. Replays find it done; a try whose answer was lost is followed by another one under the same
 * key, which the relay knows.
 */
export async function sendMail(
  ctx: Pick<StageContext, 'step' | 'log'>,
  mails: MailService,
  name: string,
  mail: Mail,
): Promise<void> {
  await ctx.step.run(
    `mail:${name}`,
    async ({ idempotencyKey, attempt }) => {
      // In the body of the step: a line beside it would be written at every replay.
      ctx.log(`mail to ${mail.to}: ${mail.subject}${attempt > 1 ? ` (try ${attempt})` : ''}`);
      await mails.send(mail, idempotencyKey);
    },
    { retry: { maxAttempts: 5, backoff: ['5m', '30m'] } },
  );
}
