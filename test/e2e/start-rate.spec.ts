import { Stage, Workflow, WorkflowService, type Flow, type StageContext } from 'nestjs-workflow-engine';
import { WorkflowTester, type WorkflowTesterOptions } from 'nestjs-workflow-engine/testing';
import { z } from 'zod';
import { testServerUrl } from '../support/database.js';

const input = z.object({ n: z.number().int() });
const schemas = { input, output: z.object({ n: z.number().int() }) };

@Stage({ id: 'count-up', ...schemas })
class CountUp {
  async execute({ input: { n } }: StageContext<typeof schemas>) {
    return { n: n + 1 };
  }
}

@Workflow({ id: 'rated', version: 1, input, limits: { startsPerMinute: 3 } })
class Rated {
  define(flow: Flow<typeof input>) {
    return flow.pipe(CountUp);
  }
}

@Stage({ id: 'start-child', ...schemas, retry: { maxAttempts: 2, backoff: ['1s'] } })
class StartChild {
  async execute({ input: { n }, step }: StageContext<typeof schemas>) {
    return step.runWorkflow('child', Rated, { n });
  }
}

@Workflow({ id: 'parent', version: 1, input })
class Parent {
  define(flow: Flow<typeof input>) {
    return flow.pipe(StartChild);
  }
}

const HOW: [string, WorkflowTesterOptions][] = [
  ['in memory', { store: 'memory', workflow: {} }],
  ['on PostgreSQL', { server: testServerUrl(), workflow: {} }],
];

describe.each(HOW)('starts of a definition with a rate, %s', (_case, options) => {
  let tester: WorkflowTester;
  let workflows: WorkflowService;

  beforeAll(async () => {
    tester = await WorkflowTester.create({ ...options, providers: [CountUp, Rated, StartChild, Parent] });
    workflows = tester.app.get(WorkflowService);
  });
  afterAll(() => tester.close());
  beforeEach(async () => {
    await tester.travel(60_000 - ((await tester.now()).getTime() % 60_000));
  });

  const refusals = async (): Promise<string[]> => {
    const { runs } = await workflows.asOperator().list({ status: 'FAILED' });
    return runs.map(({ id }) => id);
  };

  it('LIMIT-3: what is above the rate is created FAILED, with limit and value in its message', async () => {
    const items = Array.from({ length: 5 }, (_, n) => ({ input: { n } }));
    const results = await workflows.startMany(Rated, items);
    expect(results.map(({ created }) => created)).toEqual([true, true, true, false, false]);
    expect(results.map(({ refused }) => refused)).toEqual([undefined, undefined, undefined, true, true]);
    const { run, stages } = await workflows.history(results[3]!.run);
    expect(run).toMatchObject({ status: 'FAILED', failure: { code: 'START_RATE_EXCEEDED', node: null } });
    expect(run.failure!.message).toContain('limits.startsPerMinute = 3');
    expect(stages).toEqual([]);
    await expect(workflows.result(results[4]!.run)).rejects.toThrow('START_RATE_EXCEEDED');
    await tester.drain();
    expect(await tester.status(results[2]!.run)).toBe('COMPLETED');
  });

  it('LIMIT-3: a key that was refused stays free, one that is held finds its run whatever the rate says', async () => {
    const start = (key: string) => workflows.start(Rated, { n: 1 }, { idempotencyKey: key });
    const first = await start('first');
    for (const key of ['second', 'third']) expect(await start(key)).toMatchObject({ created: true });
    const late = await start('late');
    expect(late).toMatchObject({ created: false, refused: true });
    expect(await start('first')).toEqual({ run: first.run, created: false });
    expect((await start('late')).run.id).not.toBe(late.run.id);
    await tester.travel('1m');
    expect(await start('late')).toMatchObject({ created: true });
    // What found its run has taken no place.
    expect(await start('late')).toMatchObject({ created: false });
    for (const key of ['fifth', 'sixth']) expect(await start(key)).toMatchObject({ created: true });
    expect(await start('seventh')).toMatchObject({ refused: true });
  });

  it('LIMIT-3: one key in several starts of a call takes one place', async () => {
    const items = ['a', 'a', 'b', 'b', 'c', 'd', 'd'].map((idempotencyKey) => ({ input: { n: 1 }, idempotencyKey }));
    const results = await workflows.startMany(Rated, items);
    expect(results.map(({ created }) => created)).toEqual([true, false, true, false, true, false, false]);
    expect(results.map(({ refused = false }) => refused)).toEqual([false, false, false, false, false, true, true]);
  });

  it('LIMIT-3: a child above the rate is started by a later attempt of its stage', async () => {
    await workflows.startMany(
      Rated,
      Array.from({ length: 3 }, (_, n) => ({ input: { n } })),
    );
    const before = await refusals();
    const run = await tester.start(Parent, { n: 1 });
    await tester.drain();
    const [stage] = (await tester.history(run)).stages;
    expect(stage).toMatchObject({ status: 'PENDING', attempt: 1, error: { code: 'CHILD_NOT_STARTED' } });
    expect(stage!.error!.message).toContain('limits.startsPerMinute = 3');
    await tester.travel('1m');
    await expect(tester.result(run)).resolves.toEqual({ n: 2 });
    expect(await refusals()).toEqual(before);
  });
});
