import { graph } from 'nestjs-workflow-engine';

/** An expense on its way from its filing to its payment, on behalf of whoever filed it. */
export const EXPENSE_APPROVAL = graph('expense-approval', 'Expense approval')
  .input({ type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] })
  .settings({ actor: 'on_behalf_of', retry: { maxAttempts: 3, backoff: ['1m'] } })
  .condition('large', 'input.amount >= 1000', { true: 'sign', false: 'approve' })
  .approval(
    'sign',
    { approvers: 'approvers.leads', rule: { atLeast: 2 }, expires: '5 days' },
    { approved: 'approve', rejected: 'reject', expired: 'reject' },
    { escalations: [{ after: '2 days', action: { type: 'notify', to: ['cfo'], message: 'An expense waits.' } }] },
  )
  .transition('approve', { to: 'approved' })
  .stage('pay', 'acme.pay', { input: { amount: 'input.amount', purpose: 'subject.purpose' } })
  .wait('booked', { event: { key: '"bank.booked"', subject: true } })
  .transition('settle', { to: 'paid', reason: 'output("booked").receipt' })
  .end('paid', { outcome: 'paid' })
  .transition('reject', { to: 'rejected' })
  .end('refused', { outcome: 'refused' })
  .build();

/** The bank says, by a signed webhook, that it has booked a payment: whoever waits for it goes on. */
export const BANK_STATEMENT = graph('bank-statement', 'Bank statement')
  .input({
    type: 'object',
    properties: { expense: { type: 'string' }, receipt: { type: 'string' } },
    required: ['expense', 'receipt'],
  })
  .trigger({
    id: 'bank',
    type: 'webhook',
    auth: 'signature',
    subject: { type: 'expense', id: 'event.expense' },
  })
  .emitEvent('tell', { key: '"bank.booked"', subject: true }, undefined, { input: { receipt: 'input.receipt' } })
  .end('told', { outcome: 'told' })
  .build();
