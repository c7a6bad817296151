import { Stage, type StageContext, type StageHandler } from 'nestjs-workflow-engine';
import { z } from 'zod';
import { Bank } from './bank.service.js';

const schemas = {
  input: z.object({ amount: z.number().int().positive().max(50_000), purpose: z.string() }),
  output: z.object({ order: z.string() }),
};

/** The type behind "acme.pay". */
@Stage({ id: 'acme.pay', ...schemas })
export class Pay implements StageHandler<typeof schemas> {
  constructor(private readonly bank: Bank) {}

  async execute(ctx: StageContext<typeof schemas>) {
    const { amount, purpose } = ctx.input;
    // The bank is given the same key however often it is asked, and pays once.
    return { order: await ctx.step.run('order', () => this.bank.order(ctx.idempotencyKey, amount, purpose)) };
  }
}
