import { Stage, Workflow, type Flow, type StageContext } from 'nestjs-workflow-engine';
import { z } from 'zod';

const pay = {
  input: z.object({ amount: z.number() }),
  output: z.object({ paid: z.number(), by: z.string() }),
  config: z.object({ method: z.string() }),
};

/** What each payment went through, in order. */
export const payments: { readonly amount: number; readonly method: string }[] = [];

@Stage({ id: 'acme.pay', ...pay })
export class Pay {
  execute(ctx: StageContext<typeof pay>) {
    const { amount } = ctx.input;
    payments.push({ amount, method: ctx.config.method });
    return { paid: amount, by: ctx.config.method };
  }
}

const note = { input: z.any(), output: z.null() };

@Stage({ id: 'acme.note', ...note, sideEffect: false })
export class Note {
  execute(_ctx: StageContext<typeof note>) {
    return null;
  }
}

@Workflow({ id: 'in-code', version: 1, input: note.input })
export class InCode {
  define(flow: Flow<typeof note.input>) {
    return flow.pipe(Note);
  }
}

export const EXPENSES = [Pay, Note, InCode];

/** Large amounts are noted before they are paid. */
export const expenseGraph = (method = 'sepa', id = 'expense-approval') => ({
  id,
  name: 'Expense approval',
  input: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
  nodes: [
    { id: 'large', type: 'condition', config: { if: 'input.amount >= 1000' } },
    { id: 'note', type: 'acme.note' },
    { id: 'pay', type: 'acme.pay', config: { method } },
    { id: 'done', type: 'end', config: { outcome: 'paid' } },
  ],
  edges: [
    { from: 'large', outcome: 'true', to: 'note' },
    { from: 'large', outcome: 'false', to: 'pay' },
    { from: 'note', to: 'pay' },
    { from: 'pay', to: 'done' },
  ],
});
