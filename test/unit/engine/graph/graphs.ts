import { z } from 'zod';
import type { Graph, GraphCatalogue } from '../../../../lib/engine/graph/index.js';

/** The app that graphs of the tests are checked against. */
export const CATALOGUE: GraphCatalogue = {
  types: {
    'acme.pay': {
      config: z.strictObject({ method: z.enum(['sepa', 'card']), days: z.number().int().default(3) }),
    },
    'acme.score': { config: null, outcomes: ['good', 'bad'] },
    'acme.note': {},
    'acme.rate': {
      outputSchema: z.object({
        score: z.number(),
        good: z.boolean(),
        by: z.string().optional(),
        maybe: z.boolean().nullable(),
        at: z.date(),
        either: z.union([z.boolean(), z.number()]),
        made: z.string().transform((text) => text === 'x'),
        pair: z.tuple([z.boolean()]).rest(z.number()),
        rows: z.array(z.object({ id: z.string() })),
        more: z.looseObject({ id: z.string() }),
        all: z.record(z.string(), z.number()),
      }),
    },
    'acme.flag': { outputSchema: z.boolean() },
    'acme.async': {
      config: z.object({ key: z.string().refine((key) => Promise.resolve(key === 'right'), 'is wrong') }),
    },
    'acme.throws': {
      config: z.unknown().refine(() => {
        throw new Error('no database');
      }),
    },
  },
  approvers: ['financeLeads', 'cfo', 'managers'],
  entities: ['Order'],
  workflows: ['onboarding', 'refund'],
};

/** The example of docs/graphs.md: an approval above a sum, then a payment. */
export function expenseApproval(): Graph {
  return {
    id: 'expense-approval',
    name: 'Expense approval',
    input: {
      type: 'object',
      properties: { amount: { type: 'number' }, note: { type: 'string' } },
      required: ['amount'],
    },
    settings: {
      actor: 'on_behalf_of',
      retry: { maxAttempts: 5, backoff: ['10s', '1m'] },
      limits: { maxStageRuns: 50 },
    },
    nodes: [
      { id: 'large', type: 'condition', config: { if: 'input.amount >= 1000' } },
      {
        id: 'sign',
        type: 'approval',
        config: { approvers: 'approvers.financeLeads', rule: { atLeast: 2 }, expires: '5 days' },
        escalations: [{ after: '2 days', action: { type: 'notify', to: 'approvers.cfo' } }],
      },
      {
        id: 'pay',
        type: 'acme.pay',
        config: { method: 'sepa' },
        input: { amount: 'input.amount', kind: '"expense"', tries: 3 },
        retry: { maxAttempts: 5, backoff: ['10s', '1m', '5m'] },
      },
      { id: 'paid', type: 'end', config: { outcome: 'paid' } },
      { id: 'no', type: 'end', config: { outcome: 'rejected' } },
    ],
    edges: [
      { from: 'large', outcome: 'true', to: 'sign' },
      { from: 'large', outcome: 'false', to: 'pay' },
      { from: 'sign', outcome: 'approved', to: 'pay' },
      { from: 'sign', outcome: 'rejected', to: 'no' },
      { from: 'pay', to: 'paid' },
    ],
  };
}

/** One node of every type, a loop with a branch inside, a parallel node inside a loop. */
export function everyType(): Graph {
  return {
    id: 'every-type',
    description: 'All there is.',
    input: {
      type: 'object',
      properties: {
        items: { type: 'array', items: { type: 'object', properties: { id: { type: 'string' } } } },
        amount: { type: 'integer' },
        country: { type: 'string' },
        urgent: { type: 'boolean' },
      },
    },
    settings: { actor: 'system', deadline: '90 days', queue: 'slow' },
    triggers: [
      {
        id: 'nightly',
        type: 'schedule',
        cron: '30 2 * * MON-FRI',
        timeZone: 'Europe/Rome',
        catchUp: 'once',
        input: { amount: 1 },
      },
      { id: 'hook', type: 'webhook', auth: 'signature', key: 'event.id', input: { country: 'event.country' } },
      {
        id: 'ordered',
        type: 'event',
        on: { entity: 'Order', change: 'insert' },
        where: 'event.amount > 10',
        subject: { type: 'order', id: 'event.id' },
        input: { amount: 'event.amount' },
      },
    ],
    start: 'each-item',
    nodes: [
      { id: 'each-item', type: 'loop', config: { forEach: 'input.items' } },
      { id: 'where', type: 'branch', config: { cases: [{ outcome: 'eu', if: 'input.country in ["DE", "FR"]' }] } },
      {
        id: 'both',
        type: 'parallel',
        config: { join: 'taken', branches: [{ outcome: 'note' }, { outcome: 'score', when: 'input.urgent' }] },
      },
      {
        id: 'note',
        type: 'acme.note',
        when: 'output("each-item").index > 0',
        input: { id: 'output("each-item").item.id' },
      },
      { id: 'score', type: 'acme.score' },
      { id: 'good', type: 'set_field', config: { field: 'score.value', value: 'output("score").points' } },
      { id: 'thrice', type: 'loop', config: { count: 3 } },
      {
        id: 'tell',
        type: 'emit_event',
        config: { key: '"scored:" + output("each-item").item.id' },
        input: { at: 'now' },
      },
      {
        id: 'patient',
        type: 'wait',
        config: { event: { key: '"answer"', subject: true, where: 'event.ok' }, timeout: '3 days' },
      },
      { id: 'again', type: 'loop', config: { while: 'output("sub").more == true', max: 5 } },
      {
        id: 'sub',
        type: 'start_workflow',
        config: { workflow: 'refund', wait: true },
        input: { amount: 'input.amount' },
      },
      {
        id: 'sign',
        type: 'approval',
        config: {
          stages: [{ approvers: ['u1', 'u2'], rule: 'all' }, { approvers: 'approvers.managers + [actor.id]' }],
          expires: '5 days',
        },
        escalations: [
          { after: '1 day', action: { type: 'reassign', to: ['u3'] } },
          { after: '2 days', action: { type: 'start_workflow', workflow: 'onboarding', input: { who: 'actor.id' } } },
          { after: '3 days', action: { type: 'acme.pay', config: { method: 'card' } } },
          { after: '4 days', action: { type: 'take_edge', outcome: 'stuck' } },
        ],
      },
      { id: 'publish', type: 'transition', config: { to: 'published', reason: '"approved by " + actor.id' } },
      { id: 'later', type: 'wait', config: { until: 'timestamp("2030-01-01T00:00:00Z") + duration("1h")' } },
      { id: 'until-open', type: 'wait', config: { condition: 'subject.status == "open"', every: '5m' } },
      { id: 'pause', type: 'wait', config: { timer: '30s' } },
      {
        id: 'end',
        type: 'end',
        config: { outcome: 'done', output: { score: 'output("score")', path: ['"a"', 1, null, true] } },
      },
      { id: 'gave-up', type: 'end' },
    ],
    edges: [
      { from: 'each-item', outcome: 'each', to: 'where' },
      { from: 'where', outcome: 'eu', to: 'both' },
      { from: 'where', outcome: 'else', to: 'thrice' },
      { from: 'both', outcome: 'note', to: 'note' },
      { from: 'note', to: 'both' },
      { from: 'both', outcome: 'score', to: 'score' },
      { from: 'score', outcome: 'good', to: 'good' },
      { from: 'score', outcome: 'bad', to: 'both' },
      { from: 'good', to: 'both' },
      { from: 'both', to: 'each-item' },
      { from: 'thrice', outcome: 'each', to: 'tell' },
      { from: 'tell', to: 'thrice' },
      { from: 'thrice', outcome: 'done', to: 'each-item' },
      { from: 'each-item', to: 'patient' },
      { from: 'patient', to: 'again' },
      { from: 'patient', outcome: 'timeout', to: 'gave-up' },
      { from: 'again', outcome: 'each', to: 'sub' },
      { from: 'sub', to: 'again' },
      { from: 'sub', outcome: 'failed', to: 'gave-up' },
      { from: 'again', to: 'sign' },
      { from: 'sign', outcome: 'approved', to: 'publish' },
      { from: 'sign', outcome: 'rejected', to: 'gave-up' },
      { from: 'sign', outcome: 'expired', to: 'later' },
      { from: 'sign', outcome: 'stuck', to: 'later' },
      { from: 'publish', to: 'later' },
      { from: 'later', to: 'until-open' },
      { from: 'until-open', to: 'pause' },
      { from: 'pause', to: 'end' },
    ],
  };
}
