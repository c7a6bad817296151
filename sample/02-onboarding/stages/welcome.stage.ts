import { Stage, type StageContext, type StageHandler } from 'nestjs-workflow-engine';
import { z } from 'zod';
import { customerSchema } from '../customers/customer.js';
import { MailService } from '../mail/mail.service.js';
import { sendMail } from '../mail/send-mail.js';

const schemas = { input: customerSchema, output: z.object({ customer: customerSchema }) };

/** Greets the customer. */
@Stage({ id: 'welcome', ...schemas })
export class Welcome implements StageHandler<typeof schemas> {
  constructor(private readonly mails: MailService) {}

  async execute(ctx: StageContext<typeof schemas>) {
    const customer = ctx.input;
    await sendMail(ctx, this.mails, 'welcome', {
      to: customer.email,
      subject: 'Welcome',
      text: `Hello ${customer.name}, complete your profile and we can begin.`,
    });
    return { customer };
  }
}
