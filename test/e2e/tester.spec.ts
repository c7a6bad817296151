import { TypeOrmModule } from '@nestjs/typeorm';
import { WorkflowModule, WorkflowService } from 'nestjs-workflow-engine';
import { WorkflowTester, type WorkflowTesterOptions } from 'nestjs-workflow-engine/testing';
import { testServerUrl } from '../support/database.js';
import { GREETING, Greeting, Listener } from './greeting.js';

const HOW: [string, WorkflowTesterOptions][] = [
  ['in memory', { store: 'memory', workflow: {} }],
  ['on PostgreSQL', { server: testServerUrl(), workflow: {} }],
  [
    "on the host's DataSource",
    {
      server: testServerUrl(),
      imports: ({ url }) => [TypeOrmModule.forRoot({ type: 'postgres', url }), WorkflowModule.forRoot()],
    },
  ],
];

describe.each(HOW)('WorkflowTester %s', (_case, options) => {
  let tester: WorkflowTester;

  beforeAll(async () => {
    tester = await WorkflowTester.create({ ...options, providers: GREETING });
  });
  afterAll(() => tester.close());

  it('MOD-1: nothing runs before a drain, and a drain runs everything', async () => {
    const run = await tester.start(Greeting, { name: 'Ada' });
    await expect(tester.status(run)).resolves.toBe('RUNNING');
    await expect(tester.drain()).resolves.toEqual({ processed: 3 });
    await expect(tester.status(run)).resolves.toBe('COMPLETED');
    await expect(tester.result(run)).resolves.toEqual({ length: 9, loud: 'HELLO ADA?' });
  });

  it('EVT-1: a drain delivers events', async () => {
    const run = await tester.start(Greeting, { name: 'Bob' });
    await tester.drain();
    const heard = tester.app.get(Listener).heard.filter((event) => event.run.id === run.id);
    expect(heard.map(({ type }) => type)).toEqual(['run:started', 'run:completed']);
  });

  it('WAKE-5: travelling fires a delayed start when its time has come, not before', async () => {
    const run = await tester.start(Greeting, { name: 'Cy' }, { delay: '7 days' });
    await tester.travel('6 days');
    await expect(tester.status(run)).resolves.toBe('PENDING');
    await tester.travel('1 day');
    await expect(tester.status(run)).resolves.toBe('COMPLETED');
  });

  it('RETRY-2: a journey takes the retries that fall into it, those too that they lead to', async () => {
    const run = await tester.start(Greeting, { name: 'nobody' });
    await tester.drain();
    expect((await tester.history(run)).stages[0]).toMatchObject({ status: 'PENDING', attempt: 1 });
    await tester.travel('3 hours');
    const { run: view, stages } = await tester.history(run);
    expect(view).toMatchObject({ status: 'FAILED', failure: { code: 'EXCEPTION', node: 'salute' } });
    expect(stages[0]!.failedAttempts).toHaveLength(3);
    await expect(tester.result(run)).rejects.toMatchObject({ code: 'RUN_FAILED' });
  });

  it('RUN-6: an instant given after a journey is compared with the clock that was moved', async () => {
    await tester.travel('30 days');
    const inTenDays = new Date(Date.now() + 10 * 86_400_000);
    const { run } = await tester.app.get(WorkflowService).start(Greeting, { name: 'Di' }, { startAt: inTenDays });
    await tester.drain();
    await expect(tester.status(run)).resolves.toBe('COMPLETED');
  });
});

describe('WorkflowTester', () => {
  it('OPS-3: an in-memory store in production is refused', async () => {
    const before = process.env.NODE_ENV;
    process.env.NODE_ENV = 'production';
    try {
      await expect(WorkflowTester.create({ store: 'memory', workflow: {} })).rejects.toMatchObject({
        code: 'INVALID_OPTIONS',
      });
    } finally {
      process.env.NODE_ENV = before;
    }
  });
});
