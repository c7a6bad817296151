import { Stage, type StageContext, StageFailedError, type StageHandler } from 'nestjs-workflow-engine';
import { z } from 'zod';
import { profileCompleted, profileSchema } from '../customers/customer.js';
import { MailService } from '../mail/mail.service.js';
import { sendMail } from '../mail/send-mail.js';
import { Welcome } from './welcome.stage.js';

const schemas = {
  output: z.object({ profile: profileSchema, reminded: z.boolean() }),
  config: z.object({
    remindAfter: z.string().default('3 days'),
    /** From the beginning, the time before the reminder included. */
    giveUpAfter: z.string().default('10 days'),
  }),
};

/** Waits until the customer has completed their profile, and reminds them once. */
@Stage({ id: 'profile', ...schemas })
export class CompleteProfile implements StageHandler<typeof schemas> {
  constructor(private readonly mails: MailService) {}

  async execute(ctx: StageContext<typeof schemas>) {
    const { customer } = ctx.require(Welcome);
    const { remindAfter, giveUpAfter } = ctx.config;
    const profile = ctx.step.waitForEvent('profile', {
      key: profileCompleted(ctx.run.id),
      schema: profileSchema,
      timeout: giveUpAfter,
      onTimeout: 'return',
    });
    ctx.progress(0, 1, 'waits for the profile');

    const patience = ctx.step.sleep('patience', remindAfter);
    const first = await Promise.race([profile.then(() => 'profile'), patience.then(() => 'reminder')]);
    if (first === 'reminder') {
      await sendMail(ctx, this.mails, 'reminder', {
        to: customer.email,
        subject: 'Your profile is waiting',
        text: `Hello ${customer.name}, your profile is not complete yet.`,
      });
      ctx.progress(0, 1, 'waits for the profile, reminded');
    }

    const answer = await profile;
    if (answer.timedOut)
      throw new StageFailedError('PROFILE_MISSING', `${customer.name} had no profile after ${giveUpAfter}`);
    ctx.progress(1, 1, 'profile complete');
    ctx.log(`the profile of ${customer.name}, ${answer.value.company}, is complete`);
    return { profile: answer.value, reminded: first === 'reminder' };
  }
}
