import { type Flow, Workflow, type WorkflowBlueprint } from 'nestjs-workflow-engine';
import { z } from 'zod';
import { BookInvoice } from './book-invoice.stage.js';
import { CheckInvoice } from './check-invoice.stage.js';
import { SendInvoice } from './send-invoice.stage.js';

const input = z.object({});

/** One run takes one invoice out of the house, on behalf of whoever wrote it. */
@Workflow({ id: 'invoice', version: 1, input, actor: 'on_behalf_of' })
export class InvoiceRun implements WorkflowBlueprint<typeof input> {
  define(flow: Flow<typeof input>) {
    return flow.pipe(CheckInvoice).pipe(SendInvoice).pipe(BookInvoice);
  }
}
