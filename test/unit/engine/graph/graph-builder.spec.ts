import { graph, validateGraph } from '../../../../lib/engine/graph/index.js';
import { CATALOGUE, expenseApproval } from './graphs.js';

describe('the builder', () => {
  it('GRAPH-1: writes the JSON that is written by hand', () => {
    const built = graph('expense-approval', 'Expense approval')
      .input({
        type: 'object',
        properties: { amount: { type: 'number' }, note: { type: 'string' } },
        required: ['amount'],
      })
      .settings({
        actor: 'on_behalf_of',
        retry: { maxAttempts: 5, backoff: ['10s', '1m'] },
        limits: { maxStageRuns: 50 },
      })
      .condition('large', 'input.amount >= 1000', { true: 'sign', false: 'pay' })
      .approval(
        'sign',
        { approvers: 'approvers.financeLeads', rule: { atLeast: 2 }, expires: '5 days' },
        { approved: 'pay', rejected: 'no' },
        { escalations: [{ after: '2 days', action: { type: 'notify', to: 'approvers.cfo' } }] },
      )
      .stage('pay', 'acme.pay', {
        config: { method: 'sepa' },
        input: { amount: 'input.amount', kind: '"expense"', tries: 3 },
        retry: { maxAttempts: 5, backoff: ['10s', '1m', '5m'] },
      })
      .end('paid', { outcome: 'paid' })
      .end('no', { outcome: 'rejected' })
      .build();
    expect(built).toEqual(expenseApproval());
  });

  it('GRAPH-1: a node that says nothing leads to the next one, the last one nowhere', async () => {
    const built = graph('a').stage('x', 'acme.note').wait('w', { timer: '1 day' }).stage('y', 'acme.note').build();
    expect(built.edges).toEqual([
      { from: 'x', to: 'w' },
      { from: 'w', to: 'y' },
    ]);
    const validation = await validateGraph(built, CATALOGUE);
    expect(validation.ok ? [] : validation.problems.map(({ code }) => code)).toEqual(['NO_END', 'DEAD_END']);
  });

  it('GRAPH-1: writes every part of a graph, and hands out a copy', () => {
    const config = { cases: [{ outcome: 'eu', if: 'input.eu' }] };
    const builder = graph('b')
      .describe('What it is for.')
      .start('where')
      .trigger({ id: 't', type: 'schedule', cron: '0 9 * * *' })
      .branch('where', config.cases, { eu: 'set', else: 'fork' })
      .setField('set', 'priority', 3)
      .loop('turn', { while: 'input.more', max: 5 }, { each: 'tell', done: 'fork' }, { name: 'Turn' })
      .emitEvent('tell', { key: '"a"' }, 'turn')
      .parallel(
        'fork',
        { join: 'any', branches: [{ outcome: 'a' }, { outcome: 'b' }] },
        { a: 'sub', b: 'move', done: 'end' },
      )
      .startWorkflow('sub', { workflow: 'refund' }, { done: 'fork' })
      .transition('move', { to: 'open' }, 'fork', { when: 'input.more' })
      .end('end');
    const built = builder.build();
    expect(Object.keys(built)).toEqual(['id', 'description', 'start', 'triggers', 'nodes', 'edges']);
    expect(built.nodes.map(({ type }) => type)).toEqual([
      'branch',
      'set_field',
      'loop',
      'emit_event',
      'parallel',
      'start_workflow',
      'transition',
      'end',
    ]);
    expect(built.edges).toContainEqual({ from: 'turn', to: 'fork' });
    expect(built.edges).toContainEqual({ from: 'fork', outcome: 'a', to: 'sub' });
    built.nodes.pop();
    config.cases.pop();
    expect(builder.build().nodes).toHaveLength(8);
    expect(built.nodes[0]).toMatchObject({ config: { cases: [{ outcome: 'eu' }] } });
  });

  it('GRAPH-1: what is no JSON is refused when it is built', () => {
    expect(() => graph('c').setField('set', 'at', new Date(0)).build()).toThrow('Graph c');
  });
});
