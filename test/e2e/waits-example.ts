import { Injectable } from '@nestjs/common';
import { Stage, Workflow } from 'nestjs-workflow-engine';
import type { Flow, StageContext, StageHandler, WorkflowBlueprint } from 'nestjs-workflow-engine';
import { z } from 'zod';

@Injectable()
export class Mailer {
  readonly sent: string[] = [];

  async send(text: string) {
    this.sent.push(text);
    return { messageId: this.sent.length };
  }
}

const order = {
  input: z.object({ orderId: z.string(), total: z.number() }),
  output: z.object({ receipt: z.string().nullable() }),
};

@Stage({ id: 'collect-payment', ...order })
export class CollectPayment implements StageHandler<typeof order> {
  constructor(private readonly mailer: Mailer) {}

  async execute(ctx: StageContext<typeof order>) {
    const { orderId, total } = ctx.input;
    await ctx.step.run('ask', () => this.mailer.send(`Please pay ${total} for ${orderId}.`));

    const payment = await ctx.step.waitForEvent('payment', {
      key: 'payment.received',
      subject: { type: 'order', id: orderId },
      where: `event.amount >= ${total}`,
      schema: z.object({ receipt: z.string() }),
      timeout: '14 days',
      onTimeout: 'return',
    });
    if (payment.timedOut) return { receipt: null };

    await ctx.step.sleep('cool-off', '2 days');
    await ctx.step.run('thank', () => this.mailer.send(`Thank you for ${orderId}.`));
    return { receipt: payment.value.receipt };
  }
}

@Workflow({ id: 'order', version: 1, input: order.input })
export class Order implements WorkflowBlueprint<typeof order.input> {
  define(flow: Flow<typeof order.input>) {
    return flow.pipe(CollectPayment);
  }
}
