import { Stage, type StageContext, type StageHandler } from 'nestjs-workflow-engine';
import { z } from 'zod';
import { subscriptionSchema } from '../billing/subscription.js';
import { MailService } from '../mail/mail.service.js';
import { sendMail } from '../mail/send-mail.js';
import { SignOff } from './sign-off.stage.js';
import { Welcome } from './welcome.stage.js';

const schemas = {
  /** Undefined where the stage before was skipped: nobody is billed whom nobody took. */
  input: subscriptionSchema.optional(),
  output: z.object({ outcome: z.enum(['active', 'rejected']), accountId: z.string().nullable() }),
};

/** Tells the customer what came of it. */
@Stage({ id: 'finish', ...schemas })
export class Finish implements StageHandler<typeof schemas> {
  constructor(private readonly mails: MailService) {}

  async execute(ctx: StageContext<typeof schemas>) {
    const { name, email } = ctx.require(Welcome).customer;
    const subscription = ctx.input;
    if (!subscription) {
      const { reason } = ctx.require(SignOff);
      const text = `Hello ${name}, we can't take you on${reason ? `: ${reason}` : ''}.`;
      await sendMail(ctx, this.mails, 'rejected', { to: email, subject: 'We are sorry', text });
      return { outcome: 'rejected' as const, accountId: null };
    }
    const text = `Hello ${name}, your account ${subscription.accountId} is ready.`;
    await sendMail(ctx, this.mails, 'ready', { to: email, subject: 'You can begin', text });
    return { outcome: 'active' as const, accountId: subscription.accountId };
  }
}
