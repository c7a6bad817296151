import { Stage, type StageContext, StageFailedError, type StageHandler } from 'nestjs-workflow-engine';
import { z } from 'zod';
import type { Invoice } from '../invoices/invoice.entity.js';

const schemas = { input: z.object({}), output: z.object({ reference: z.string() }) };

/** Looks, and touches nothing. */
@Stage({ id: 'check-invoice', ability: 'check', sideEffect: false, ...schemas })
export class CheckInvoice implements StageHandler<typeof schemas> {
  async execute(ctx: StageContext<typeof schemas>) {
    const { id, customer } = await ctx.subject<Invoice>();
    if (customer.trim() === '') throw new StageFailedError('NO_CUSTOMER', 'An invoice needs somebody to pay it');
    return { reference: `INV-${id.slice(0, 8)}` };
  }
}
