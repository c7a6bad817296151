import { around, type FaultyGraph } from './faulty-graph.js';

const bad = (
  name: string,
  node: object,
  outcomes: (string | undefined)[],
  ...problems: FaultyGraph['problems'][number][]
): FaultyGraph => ({
  name,
  graph: around({ id: 'n', ...node }, outcomes),
  problems,
});
const approval = (config: object) => ({ type: 'approval', config });
const DECIDED = ['approved', 'rejected'];
const BRANCHES = [{ outcome: 'x' }, { outcome: 'y' }];

export const CONFIGS: readonly FaultyGraph[] = [
  bad(
    'a condition without config',
    { type: 'condition' },
    ['true', 'false'],
    ['INVALID_CONFIG', '$.nodes[1].config.if'],
  ),
  bad(
    'a config that is a text',
    { type: 'condition', config: 'input.ok' },
    ['true', 'false'],
    ['INVALID_CONFIG', '$.nodes[1].config'],
  ),
  bad(
    'a mistyped field of a config',
    { type: 'condition', config: { iff: 'input.ok' } },
    ['true', 'false'],
    ['INVALID_CONFIG', '$.nodes[1].config.iff'],
    ['INVALID_CONFIG', '$.nodes[1].config.if'],
  ),
  bad(
    'a config of the host that does not fit',
    { type: 'acme.pay', config: { method: 'cash', days: 1.5 } },
    [undefined],
    ['INVALID_CONFIG', '$.nodes[1].config.method'],
    ['INVALID_CONFIG', '$.nodes[1].config.days'],
  ),
  bad(
    'a config of the host that is missing',
    { type: 'acme.pay' },
    [undefined],
    ['INVALID_CONFIG', '$.nodes[1].config.method'],
  ),
  bad(
    'a config for a type that takes none',
    { type: 'acme.note', config: { a: 1 } },
    [undefined],
    ['INVALID_CONFIG', '$.nodes[1].config'],
  ),
  bad(
    'a config that is wrong after a while',
    { type: 'acme.async', config: { key: 'left' } },
    [undefined],
    ['INVALID_CONFIG', '$.nodes[1].config.key'],
  ),
  bad(
    'a config whose schema throws',
    { type: 'acme.throws', config: {} },
    [undefined],
    ['INVALID_CONFIG', '$.nodes[1].config'],
  ),
  bad('a loop of no kind', { type: 'loop', config: {} }, [undefined], ['INVALID_CONFIG', '$.nodes[1].config']),
  bad(
    'a wait of two kinds',
    { type: 'wait', config: { timer: '1s', until: 'now' } },
    [undefined],
    ['INVALID_CONFIG', '$.nodes[1].config'],
  ),
  bad(
    'a wait for a duration that is none',
    { type: 'wait', config: { timer: '5 moons' } },
    [undefined],
    ['INVALID_DURATION', '$.nodes[1].config.timer'],
  ),
  bad(
    'cases of one name, and one that is taken',
    {
      type: 'branch',
      config: {
        cases: [
          { outcome: 'a', if: 'true' },
          { outcome: 'A', if: 'true' },
          { outcome: 'else', if: 'true' },
        ],
      },
    },
    ['a', 'A', 'else'],
    ['INVALID_CONFIG', '$.nodes[1].config.cases[1].outcome'],
    ['INVALID_CONFIG', '$.nodes[1].config.cases[2].outcome'],
  ),
  bad(
    'a field through a prototype',
    { type: 'set_field', config: { field: '__proto__.admin', value: true } },
    [undefined],
    ['INVALID_CONFIG', '$.nodes[1].config.field'],
  ),
  bad(
    'a field through a constructor',
    { type: 'set_field', config: { field: 'constructor.prototype.x', value: 1 } },
    [undefined],
    ['INVALID_CONFIG', '$.nodes[1].config.field'],
  ),
  bad(
    'a field that every object has',
    { type: 'set_field', config: { field: 'toString.call', value: 1 } },
    [undefined],
    ['INVALID_CONFIG', '$.nodes[1].config.field'],
  ),
  bad(
    'a field that is a list',
    { type: 'set_field', config: { field: [['__proto__'], 'x'], value: 1 } },
    [undefined],
    ['INVALID_CONFIG', '$.nodes[1].config.field'],
  ),
  bad(
    'a field with a bracket',
    { type: 'set_field', config: { field: 'a[0]', value: 1 } },
    [undefined],
    ['INVALID_CONFIG', '$.nodes[1].config.field'],
  ),
  bad(
    'a field without a value',
    { type: 'set_field', config: { field: 'a' } },
    [undefined],
    ['INVALID_CONFIG', '$.nodes[1].config.value'],
  ),
  bad(
    'a workflow that there is not',
    { type: 'start_workflow', config: { workflow: 'onbaording' } },
    [undefined],
    ['UNKNOWN_WORKFLOW', '$.nodes[1].config.workflow'],
  ),
  bad('more agreement than approvers', approval({ approvers: ['u1', 'u2', 'u2'], rule: { atLeast: 3 } }), DECIDED, [
    'APPROVAL_CANNOT_PASS',
    '$.nodes[1].config.rule',
  ]),
  bad(
    'more agreement than approvers of an expression',
    approval({ approvers: '["u1", "u2"]', rule: { atLeast: 3 } }),
    DECIDED,
    ['APPROVAL_CANNOT_PASS', '$.nodes[1].config.rule'],
  ),
  bad(
    'more weight than there is',
    approval({ approvers: ['u1', 'u2'], rule: { weight: 5, weights: { u1: 3, u3: 9 } } }),
    DECIDED,
    ['APPROVAL_CANNOT_PASS', '$.nodes[1].config.rule'],
  ),
  bad('nobody to agree', approval({ approvers: [] }), DECIDED, ['APPROVAL_CANNOT_PASS', '$.nodes[1].config.approvers']),
  bad(
    'a second stage that cannot pass',
    approval({ stages: [{ approvers: ['u1'] }, { approvers: ['u1'], rule: { atLeast: 2 } }] }),
    DECIDED,
    ['APPROVAL_CANNOT_PASS', '$.nodes[1].config.stages[1].rule'],
  ),
  bad(
    'more of a group than there are',
    approval({ approvers: [{ id: 'u1', group: 'a' }], rule: { perGroup: 2 } }),
    DECIDED,
    ['APPROVAL_CANNOT_PASS', '$.nodes[1].config.rule'],
  ),
  bad(
    'a group that nobody is in',
    approval({ approvers: [{ id: 'u1', group: 'a' }], rule: { perGroup: { a: 1, b: 1 } } }),
    DECIDED,
    ['APPROVAL_CANNOT_PASS', '$.nodes[1].config.rule'],
  ),
  bad(
    'an approver whom no group counts',
    approval({ approvers: [{ id: 'u1', group: 'a' }, 'u2'], rule: { perGroup: 1 } }),
    DECIDED,
    ['APPROVAL_CANNOT_PASS', '$.nodes[1].config.rule'],
  ),
  bad('no group at all', approval({ approvers: ['u1'], rule: { perGroup: {} } }), DECIDED, [
    'INVALID_CONFIG',
    '$.nodes[1].config.rule.perGroup',
  ]),
  bad('an approver with a role', approval({ approvers: [{ id: 'u1', role: 'a' }] }), DECIDED, [
    'INVALID_CONFIG',
    '$.nodes[1].config.approvers[0].role',
  ]),
  bad('an approver of two weights', approval({ approvers: [{ id: 'u1', weight: 2 }, 'u1'] }), DECIDED, [
    'INVALID_CONFIG',
    '$.nodes[1].config.approvers',
  ]),
  bad('a rule of no kind', approval({ approvers: ['u1'], rule: 'most' }), DECIDED, [
    'INVALID_CONFIG',
    '$.nodes[1].config.rule',
  ]),
  bad('approvers that there are not', approval({ approvers: 'approvers.finanzLeads' }), DECIDED, [
    'UNKNOWN_APPROVERS',
    '$.nodes[1].config.approvers',
  ]),
  bad('approvers without a name', approval({ approvers: 'approvers.map(a, a)' }), DECIDED, [
    'INVALID_EXPRESSION',
    '$.nodes[1].config.approvers',
  ]),
  bad(
    'a number where a duration belongs',
    { type: 'wait', config: { condition: 'true', every: 5 } },
    [undefined],
    ['INVALID_CONFIG', '$.nodes[1].config.every'],
  ),
  bad(
    'escalations of wrong kinds',
    {
      type: 'wait',
      config: { timer: '5 days' },
      escalations: [
        { after: '1 day', action: { type: 'reassign', to: ['u1'] } },
        { after: 'later', action: { type: 'notify', to: ['u1'] } },
        { after: '1 day', action: { type: 'notify' } },
        { after: '1 day', action: { type: 'acme.nothing' } },
        { after: '1 day', action: { type: 'acme.pay', config: {} } },
        { after: '1 day', action: { type: 'start_workflow', workflow: 'nope' } },
        { after: '1 day', action: { type: 'notify', to: 'approvers.nobody' } },
      ],
    },
    [undefined],
    ['INVALID_SHAPE', '$.nodes[1].escalations[0].action.type'],
    ['INVALID_DURATION', '$.nodes[1].escalations[1].after'],
    ['INVALID_SHAPE', '$.nodes[1].escalations[2].action.to'],
    ['UNKNOWN_TYPE', '$.nodes[1].escalations[3].action.type'],
    ['INVALID_CONFIG', '$.nodes[1].escalations[4].action.config.method'],
    ['UNKNOWN_WORKFLOW', '$.nodes[1].escalations[5].action.workflow'],
    ['UNKNOWN_APPROVERS', '$.nodes[1].escalations[6].action.to'],
  ),
  bad(
    'branches of one name, one of them skipped',
    {
      type: 'parallel',
      config: { join: 'all', branches: [...BRANCHES, { outcome: 'done' }, { outcome: 'z', when: 'input.ok' }] },
    },
    [],
    ['DEAD_END', '$.nodes[1]'],
    ['INVALID_CONFIG', '$.nodes[1].config.branches[2].outcome'],
    ['INVALID_CONFIG', '$.nodes[1].config.branches[3].when'],
    ['UNREACHABLE_NODE', '$.nodes[2]'],
  ),
];
