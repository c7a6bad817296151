import { DefinitionsService, WorkflowService, type WorkflowModuleOptions } from 'nestjs-workflow-engine';
import { WorkflowTester } from 'nestjs-workflow-engine/testing';
import { ClsServiceManager } from 'nestjs-cls';
import { testServerUrl } from '../support/database.js';
import { EXPENSES, expenseGraph, payments } from './expenses.js';

const cls = ClsServiceManager.getClsService();
const as = <T>(team: string | null, fn: () => Promise<T>): Promise<T> =>
  cls.run(() => {
    cls.set('team', team);
    return fn();
  });
const workflow: WorkflowModuleOptions = { owners: { resolve: (context) => context.get('team') as string | null } };

describe.each([
  ['in memory', { store: 'memory' as const }],
  ['on PostgreSQL', { server: testServerUrl() }],
])('triggers of published graphs, %s', (_case, options) => {
  let tester: WorkflowTester;
  beforeEach(async () => {
    payments.length = 0;
    tester = await WorkflowTester.create({ ...options, providers: EXPENSES, workflow });
  });
  afterEach(() => tester.close());

  const publish = (team: string | null, method: string, triggers: object[]) => {
    const definitions = tester.app.get(DefinitionsService);
    const graph = { ...expenseGraph(method), triggers };
    return team === null
      ? definitions.asOperator().publish(graph, { owner: null })
      : as(team, () => definitions.publish(graph));
  };
  const emit = (team: string, amount: unknown) =>
    as(team, () => tester.app.get(WorkflowService).emit({ key: 'spent', payload: { amount } }));
  const spent = { id: 'spent', type: 'event', on: 'spent' };

  it('TRIG-1, TRIG-3: instants and events start the version that is published now, until it is retired', async () => {
    await publish('a', 'v1', [spent, { id: 'hourly', type: 'schedule', cron: '0 * * * *', input: { amount: '1' } }]);
    await tester.travel('1 h');
    await emit('a', 20);
    await tester.drain();
    expect(payments).toEqual([
      { amount: 1, method: 'v1' },
      { amount: 20, method: 'v1' },
    ]);
    await publish('a', 'v2', [spent]);
    await emit('a', 30);
    await tester.travel('2 h');
    expect(payments.slice(2)).toEqual([{ amount: 30, method: 'v2' }]);
    await as('a', () => tester.app.get(DefinitionsService).retire('expense-approval'));
    await emit('a', 40);
    await tester.drain();
    expect(payments).toHaveLength(3);
  });

  it('TRIG-4: a shared graph acts in the owner of the event; his own of the same id stands for it', async () => {
    await publish(null, 'shared', [spent]);
    await publish('b', 'own', [spent]);
    await emit('a', 1);
    await emit('b', 2);
    await tester.drain();
    expect(payments).toEqual([
      { amount: 1, method: 'shared' },
      { amount: 2, method: 'own' },
    ]);
    const { runs } = await as('a', () => tester.app.get(WorkflowService).list());
    expect(runs.map(({ status, owner }) => [status, owner])).toEqual([['COMPLETED', 'a']]);
  });
});
