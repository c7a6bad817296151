import { Stage, type StageContext, StageFailedError, type StageHandler } from 'nestjs-workflow-engine';
import { z } from 'zod';
import { decisionSchema, SIGN_OFF } from '../customers/customer.js';
import { MailService } from '../mail/mail.service.js';
import { sendMail } from '../mail/send-mail.js';
import { CompleteProfile } from './complete-profile.stage.js';
import { Welcome } from './welcome.stage.js';

const schemas = {
  output: decisionSchema,
  config: z.object({
    desk: z.email().default('desk@example.com'),
    within: z.string().default('14 days'),
  }),
};

/** Asks a person whether the customer is taken, and waits for what they say. */
@Stage({ id: 'sign-off', ...schemas })
export class SignOff implements StageHandler<typeof schemas> {
  constructor(private readonly mails: MailService) {}

  async execute(ctx: StageContext<typeof schemas>) {
    const { customer } = ctx.require(Welcome);
    const { profile } = ctx.require(CompleteProfile);
    const { desk, within } = ctx.config;
    await sendMail(ctx, this.mails, 'sign-off', {
      to: desk,
      subject: `Please decide on ${customer.name}`,
      text: `${customer.name} of ${profile.company} wants the plan ${customer.plan}.`,
    });
    const answer = await ctx.step.waitForSignal(SIGN_OFF, {
      schema: decisionSchema,
      timeout: within,
      onTimeout: 'return',
    });
    if (answer.timedOut) {
      throw new StageFailedError('SIGN_OFF_TIMED_OUT', `Nobody decided on ${customer.name} within ${within}`);
    }
    const { approved, by, reason } = answer.value;
    ctx.log(`${approved ? 'approved' : 'rejected'} by ${by}${reason ? `: ${reason}` : ''}`);
    ctx.annotate(SIGN_OFF, answer.value, { scope: 'run' });
    return answer.value;
  }
}
