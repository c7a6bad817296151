import type { WorkflowTemplate } from './template.js';

const people = { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1, maxItems: 200 };

/** What every app has: they need no stage of the host's. */
export const BUILT_IN_TEMPLATES: readonly WorkflowTemplate[] = [
  {
    id: 'two-step-approval',
    name: 'Two-step approval',
    description: 'One group agrees, then another; each has a rule of its own, and all of it a limit in time.',
    parameters: {
      type: 'object',
      properties: {
        first: { ...people, title: 'Who is asked first' },
        second: { ...people, title: 'Who is asked then' },
        expires: { type: 'string', title: 'How long it may take', default: '5 days' },
      },
      required: ['first', 'second', 'expires'],
      additionalProperties: false,
    },
    example: { first: ['ann'], second: ['bob', 'cleo'], expires: '5 days' },
    graph: {
      name: 'Two-step approval',
      nodes: [
        {
          id: 'approve',
          type: 'approval',
          config: {
            stages: [
              { name: 'first', approvers: { $parameter: 'first' }, rule: 'any' },
              { name: 'second', approvers: { $parameter: 'second' }, rule: 'any' },
            ],
            expires: { $parameter: 'expires' },
          },
        },
        { id: 'approved', type: 'end', config: { outcome: 'approved' } },
        { id: 'rejected', type: 'end', config: { outcome: 'rejected' } },
        { id: 'expired', type: 'end', config: { outcome: 'expired' } },
      ],
      edges: [
        { from: 'approve', outcome: 'approved', to: 'approved' },
        { from: 'approve', outcome: 'rejected', to: 'rejected' },
        { from: 'approve', outcome: 'expired', to: 'expired' },
      ],
    },
  },
  {
    id: 'approval-above',
    name: 'Approval above an amount',
    description:
      'What is small is approved by itself; above an amount people agree, and somebody is told when they take long.',
    parameters: {
      type: 'object',
      properties: {
        limit: { type: 'number', title: 'The amount from which people are asked', minimum: 0 },
        approvers: { ...people, title: 'Who is asked' },
        signatures: { type: 'integer', title: 'How many must agree', minimum: 1 },
        after: { type: 'string', title: 'After how long somebody is told', default: '2 days' },
        tell: { ...people, title: 'Who is told' },
      },
      required: ['limit', 'approvers', 'signatures', 'after', 'tell'],
      additionalProperties: false,
    },
    example: { limit: 1000, approvers: ['ann', 'bob'], signatures: 2, after: '2 days', tell: ['cleo'] },
    graph: {
      name: 'Approval above an amount',
      input: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
      nodes: [
        { id: 'large', type: 'condition', config: { if: 'input.amount >= {{limit}}' } },
        {
          id: 'approve',
          type: 'approval',
          config: { approvers: { $parameter: 'approvers' }, rule: { atLeast: { $parameter: 'signatures' } } },
          escalations: [{ after: { $parameter: 'after' }, action: { type: 'notify', to: { $parameter: 'tell' } } }],
        },
        { id: 'approved', type: 'end', config: { outcome: 'approved' } },
        { id: 'rejected', type: 'end', config: { outcome: 'rejected' } },
      ],
      edges: [
        { from: 'large', outcome: 'true', to: 'approve' },
        { from: 'large', outcome: 'false', to: 'approved' },
        { from: 'approve', outcome: 'approved', to: 'approved' },
        { from: 'approve', outcome: 'rejected', to: 'rejected' },
      ],
    },
  },
];
