import { Stage, type StageContext, type StageHandler } from 'nestjs-workflow-engine';
import type { EntityManager } from 'typeorm';
import { z } from 'zod';
import { Booking, Invoice } from '../invoices/invoice.entity.js';

const schemas = { input: z.object({ reference: z.string() }), output: z.object({ booked: z.number() }) };

@Stage({ id: 'book-invoice', ability: 'book', ...schemas })
export class BookInvoice implements StageHandler<typeof schemas> {
  async execute(ctx: StageContext<typeof schemas>) {
    const { id, teamId, amount } = await ctx.subject<Invoice>();
    // In the transaction that ends the run: an invoice is booked once, or its run is still under way.
    ctx.recordWith(async (manager: EntityManager) => {
      await manager.update(Invoice, { id }, { status: 'sent' });
      await manager.insert(Booking, { teamId, invoiceId: id, amount });
    });
    return { booked: amount };
  }
}
