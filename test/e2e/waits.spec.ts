import { WorkflowService } from 'nestjs-workflow-engine';
import { WorkflowTester, type WorkflowTesterOptions } from 'nestjs-workflow-engine/testing';
import { testServerUrl } from '../support/database.js';
import { Onboarding, WAITS, World } from './waits.js';

const HOW: [string, WorkflowTesterOptions][] = [
  ['in memory', { store: 'memory', workflow: {} }],
  ['on PostgreSQL', { server: testServerUrl(), workflow: {} }],
];

describe.each(HOW)('a process that waits, %s', (_case, options) => {
  let tester: WorkflowTester;
  let world: World;

  beforeAll(async () => {
    tester = await WorkflowTester.create({ ...options, providers: WAITS });
    world = tester.app.get(World);
  });
  afterAll(() => tester.close());
  beforeEach(() => world.did.splice(0));

  it('STEP-4, STEP-9, WAIT-3, WAIT-6: goes through steps, an event in time, a signal and a child that is polled', async () => {
    const run = await tester.start(Onboarding, { name: 'ada' });
    await tester.drain();
    await tester.deliver({ key: 'profile:ada', payload: { complete: false } });
    await tester.deliver({ key: 'profile:ada', payload: { complete: true } });
    expect(await tester.signal(run, 'sign-off', 'grace')).toMatchObject({ status: 'delivered' });
    await tester.drain();
    expect(await tester.status(run)).toBe('RUNNING');
    await tester.travel('1 hour');
    expect(await tester.result(run)).toEqual({ log: ['ada', 'false', 'receipt', 'grace', '7'] });
    expect(world.did).toEqual(['welcome ada', 'charge ada']);
  });

  it('STEP-4: is reminded when nothing comes in three days, and waits for its person a month', async () => {
    const run = await tester.start(Onboarding, { name: 'bob' });
    await tester.travel('30 days');
    expect(world.did).toEqual(['welcome bob', 'remind bob', 'charge bob']);
    await tester.signal(run, 'sign-off', 'alan');
    await tester.travel('1 hour');
    expect((await tester.result(run)).log).toEqual(['bob', 'true', 'receipt', 'alan', '7']);
  });

  it('STEP-1, STEP-6: a process that dies once a step is recorded does it once; before that it does it again', async () => {
    tester.crashAfter('welcome');
    const run = await tester.start(Onboarding, { name: 'cy' });
    await tester.drain();
    expect((await tester.history(run)).stages[0]).toMatchObject({ status: 'RUNNING' });
    tester.crashAfter('charge', { recorded: false });
    await tester.travel('10 min');
    await tester.deliver({ key: 'profile:cy', payload: { complete: true } });
    expect(world.did).toEqual(['welcome cy', 'charge cy']);
    // The second loss of a stage is taken up after a pause.
    await tester.travel('10 min');
    await tester.travel('10 min');
    expect(world.did).toEqual(['welcome cy', 'charge cy', 'charge cy']);
    await tester.signal(run, 'sign-off', 'ida');
    await tester.travel('1 hour');
    expect((await tester.result(run)).log).toEqual(['cy', 'false', 'receipt', 'ida', '7']);
  });

  it('CANCEL-3, STEP-9: a cancelled run takes its child along', async () => {
    const run = await tester.start(Onboarding, { name: 'dee' });
    await tester.drain();
    await tester.deliver({ key: 'profile:dee', payload: { complete: true } });
    await tester.signal(run, 'sign-off', 'ida');
    await tester.drain();
    const operator = tester.app.get(WorkflowService).asOperator();
    expect((await operator.list({ status: 'RUNNING' })).runs).toHaveLength(2);
    await operator.cancel(run.id, 'no longer');
    await tester.drain();
    const { runs: ended } = await operator.list({ status: 'CANCELLED' });
    expect(ended.map(({ definition }) => definition).sort()).toEqual(['billing', 'onboarding']);
  });
});
