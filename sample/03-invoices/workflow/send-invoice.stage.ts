import { Stage, type StageContext, type StageHandler } from 'nestjs-workflow-engine';
import { z } from 'zod';
import type { Invoice } from '../invoices/invoice.entity.js';
import { Post } from './post.service.js';

const sent = z.object({ reference: z.string() });
const schemas = { input: sent, output: sent };

@Stage({ id: 'send-invoice', ability: 'send', ...schemas })
export class SendInvoice implements StageHandler<typeof schemas> {
  constructor(private readonly post: Post) {}

  async execute(ctx: StageContext<typeof schemas>) {
    const { customer, amount } = await ctx.subject<Invoice>();
    const { reference } = ctx.input;
    await ctx.step.run('post', () => this.post.send(`${reference} over ${amount} to ${customer}`));
    return { reference };
  }
}
