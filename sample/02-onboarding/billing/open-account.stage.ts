import { Stage, type StageContext, type StageHandler } from 'nestjs-workflow-engine';
import { z } from 'zod';
import { PaymentProvider } from './payment-provider.service.js';
import { billingInputSchema, PRICE_CENTS } from './subscription.js';

const schemas = {
  input: billingInputSchema,
  output: z.object({ accountId: z.string(), card: z.string(), amountCents: z.number().int() }),
};

/** Opens the customer's account at the payment provider. */
@Stage({ id: 'open-account', ...schemas })
export class OpenAccount implements StageHandler<typeof schemas> {
  constructor(private readonly payments: PaymentProvider) {}

  async execute(ctx: StageContext<typeof schemas>) {
    const { email, plan, card } = ctx.input;
    const accountId = await this.payments.openAccount(email, ctx.idempotencyKey);
    ctx.log(`account ${accountId} is open`);
    return { accountId, card, amountCents: PRICE_CENTS[plan] };
  }
}
