import { type CompletionCheck, Stage, type StageContext, type StageHandler } from 'nestjs-workflow-engine';
import { z } from 'zod';
import { LOOKS_UNTIL_SETTLED, PaymentProvider } from './payment-provider.service.js';
import { subscriptionSchema } from './subscription.js';

const schemas = {
  input: z.object({ accountId: z.string(), card: z.string(), amountCents: z.number().int() }),
  output: subscriptionSchema,
};

interface Begun {
  readonly paymentId: string;
}

/** Charges the card, which the provider does in its own time: the stage sleeps, and looks now and then. */
@Stage({ id: 'first-payment', ...schemas })
export class FirstPayment implements StageHandler<typeof schemas> {
  constructor(private readonly payments: PaymentProvider) {}

  async execute(ctx: StageContext<typeof schemas>) {
    // As an effect: not even a rerun of this stage charges a card a second time.
    const paymentId = await ctx.once('charge', ({ idempotencyKey }) => this.payments.charge(ctx.input, idempotencyKey));
    const state: Begun = { paymentId };
    return ctx.suspend({ every: '10m', maxWait: '2 days', state });
  }

  async checkCompletion(
    { paymentId }: Begun,
    ctx: StageContext<typeof schemas>,
  ): Promise<CompletionCheck<z.input<typeof subscriptionSchema>>> {
    const { state, looks } = await this.payments.look(paymentId);
    ctx.progress(looks, LOOKS_UNTIL_SETTLED, state);
    ctx.log(`payment ${paymentId}: ${state} at look ${looks}`);
    if (state === 'pending') return { status: 'pending' };
    if (state === 'declined')
      return { status: 'failed', code: 'CARD_DECLINED', message: 'The provider declined the card' };
    const { accountId, amountCents } = ctx.input;
    return { status: 'ready', output: { accountId, paymentId, amountCents } };
  }
}
