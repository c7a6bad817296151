import { AsyncLocalStorage } from 'node:async_hooks';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ClsServiceManager } from 'nestjs-cls';
import {
  DefinitionsService,
  Stage,
  Workflow,
  WorkflowModule,
  WorkflowService,
  type DryRunOptions,
  type Flow,
  type OwnerContext,
  type StageContext,
} from 'nestjs-workflow-engine';
import { WorkflowTester } from 'nestjs-workflow-engine/testing';
import { DataSource } from 'typeorm';
import { z } from 'zod';
import { testServerUrl } from '../support/database.js';

const cls = ClsServiceManager.getClsService();
const tenant = new AsyncLocalStorage<string>();
/** Whatever was called that a dry run must not call, and within whom what it may call was called. */
const called: string[] = [];
const seen: string[] = [];

const pay = {
  input: z.object({ amount: z.number().max(5_000), note: z.string().default('none') }),
  output: z.object({ receipt: z.string() }),
};

@Stage({ id: 'acme.pay', ability: 'expenses.pay', ...pay })
class Pay {
  execute(ctx: StageContext<typeof pay>) {
    called.push('pay');
    return { receipt: `r-${ctx.input.amount}` };
  }
}

const book = { input: pay.output, output: z.object({ booked: z.string() }) };

@Stage({ id: 'acme.book', ...book, sideEffect: false })
class Book {
  execute(ctx: StageContext<typeof book>) {
    called.push('book');
    return { booked: ctx.input.receipt };
  }
}

@Workflow({ id: 'in-code', version: 1, input: pay.input })
class InCode {
  define(flow: Flow<typeof pay.input>) {
    return flow.pipe(Pay).pipe(Book, { key: 'book', when: ({ input }) => input.receipt !== 'r-0' });
  }
}

const expenses: Readonly<Record<string, { team: string; place: string }>> = {
  e1: { team: 'a', place: 'Rome' },
  e2: { team: 'b', place: 'Oslo' },
};

class Tenants implements OwnerContext {
  run<T>({ id }: { id: string | null }, fn: () => Promise<T>): Promise<T> {
    return tenant.run(id ?? 'nobody', fn);
  }
}

const graph = (id = 'expense') => ({
  id,
  input: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
  nodes: [
    { id: 'near', type: 'condition', config: { if: 'subject.place == "Rome" && owner == "a"' } },
    { id: 'pay', type: 'acme.pay', input: { amount: 'input.amount' } },
    { id: 'tell', type: 'emit_event', config: { key: '"paid"' }, input: { receipt: 'output("pay").receipt' } },
    { id: 'child', type: 'start_workflow', config: { workflow: 'in-code', wait: false } },
    { id: 'done', type: 'end', config: { outcome: 'paid', output: { receipt: 'output("pay").receipt' } } },
    { id: 'far', type: 'end', config: { outcome: 'far' } },
  ],
  edges: [
    { from: 'near', outcome: 'true', to: 'pay' },
    { from: 'near', outcome: 'false', to: 'far' },
    { from: 'pay', to: 'tell' },
    { from: 'tell', to: 'child' },
    { from: 'child', to: 'done' },
  ],
});

describe('dry runs', () => {
  let tester: WorkflowTester;
  let workflows: WorkflowService;
  let definitions: DefinitionsService;

  const as = <T>(team: string, fn: () => Promise<T>): Promise<T> =>
    cls.run(() => {
      cls.set('team', team);
      return fn();
    });
  const about = (id: string): DryRunOptions['subject'] => ({ type: 'expense', id });

  beforeAll(async () => {
    tester = await WorkflowTester.create({
      server: testServerUrl(),
      imports: ({ url }) => [
        TypeOrmModule.forRoot({ type: 'postgres', url }),
        WorkflowModule.forRoot({
          owners: { context: Tenants, resolve: (context) => (context.get('team') as string) ?? null },
          authorization: {
            authorizer: {
              authorize: () => {
                called.push('authorizer');
                return true;
              },
            },
          },
          subjects: {
            resolvers: {
              expense: {
                load: ({ id }) => {
                  seen.push(`subject within ${tenant.getStore()}`);
                  return expenses[id] ?? null;
                },
                ownerOf: (one) => (one as { team: string }).team,
              },
            },
          },
        }),
      ],
      providers: [Pay, Book, InCode, Tenants],
    });
    workflows = tester.app.get(WorkflowService);
    definitions = tester.app.get(DefinitionsService);
    await as('a', () => definitions.publish(graph()));
    await tester.drain();
    await as('a', () => definitions.saveDraft({ ...graph('draft'), nodes: graph().nodes.slice(0, 2) }));
  });
  afterAll(() => tester.close());

  /** How many rows there are in each table of this database. */
  async function counts(): Promise<Record<string, number>> {
    const data = tester.app.get(DataSource);
    const tables: { name: string }[] = await data.query(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
    );
    expect(tables.length).toBeGreaterThan(10);
    const rows = await Promise.all(
      tables.map(async ({ name }) => {
        const [row] = await data.query(`SELECT count(*)::int AS count FROM ${name}`);
        return [name, row.count] as const;
      }),
    );
    return Object.fromEntries(rows);
  }

  it('RUN-7: writes nothing, calls no stage, asks no authorizer, starts nothing and tells nobody', async () => {
    called.length = 0;
    const before = await counts();
    await as('a', async () => {
      await workflows.dryRun('expense', { amount: 12 }, { subject: about('e1') });
      await workflows.dryRun(InCode, { amount: 12 });
      await definitions.dryRun(graph('unpublished'), { amount: 12 }, { subject: about('e1') });
      await definitions.dryRun({ id: 'draft', draft: true }, { amount: 12 });
    });
    await tester.drain();
    expect(await counts()).toEqual(before);
    expect(called).toEqual([]);
  });

  it("RUN-7, OWNER-2: walks in the owner's context, with owner and subject as a worker would see them", async () => {
    seen.length = 0;
    const told = await as('a', () => workflows.dryRun('expense', { amount: 12 }, { subject: about('e1') }));
    expect(seen).toEqual(['subject within a']);
    expect(told).toEqual({
      ends: 'completed',
      outcome: 'paid',
      path: [
        expect.objectContaining({
          node: 'near',
          would: 'Asks whether subject.place == "Rome" && owner == "a": it holds, and goes on to pay.',
        }),
        {
          node: 'pay',
          type: 'acme.pay',
          visit: 1,
          would: 'Runs the stage acme.pay, after "expenses.pay" was allowed, and goes on to tell.',
          outcome: 'done',
          given: { amount: 12, note: 'none' },
          unknown: ['what it gives: it was not run'],
        },
        expect.objectContaining({ node: 'tell', given: {} }),
        expect.objectContaining({ node: 'child', given: { amount: 12 } }),
        expect.objectContaining({ node: 'done', outcome: 'paid' }),
      ],
      problems: [],
    });
  });

  it("RUN-7, OWNER-3: of another owner's subject it knows nothing, and fails where a run would", async () => {
    const told = await as('a', () => workflows.dryRun('expense', { amount: 12 }, { subject: about('e2') }));
    expect(told).toMatchObject({ ends: 'failed', problems: [{ node: 'near', code: 'SUBJECT_MISSING' }] });
    await expect(as('b', () => workflows.dryRun('expense', { amount: 12 }))).rejects.toMatchObject({
      code: 'UNKNOWN_WORKFLOW',
    });
  });

  it('RUN-7: says the path that the run then takes', async () => {
    const options = { subject: about('e1') };
    const outputs = { pay: { receipt: 'r-12' } };
    const told = await as('a', () => workflows.dryRun('expense', { amount: 12 }, { ...options, outputs }));
    const { run } = await as('a', () => workflows.start('expense', { amount: 12 }, options));
    await tester.drain();
    const { stages } = await as('a', () => workflows.history(run));
    expect(told.path.map(({ node, visit }) => [node, visit])).toEqual(stages.map(({ node, visit }) => [node, visit]));
    expect(told.output).toEqual(await as('a', () => workflows.result(run)));
    expect(told.path.find(({ node }) => node === 'tell')).toMatchObject({ given: { receipt: 'r-12' } });
  });

  it("RUN-7: a stage's input that would not fit ends it there", async () => {
    const told = await as('a', () => workflows.dryRun('expense', { amount: 9_000 }, { subject: about('e1') }));
    expect(told).toMatchObject({ ends: 'failed', problems: [{ node: 'pay', code: 'INVALID_INPUT' }] });
    await expect(as('a', () => workflows.dryRun('expense', { amount: 'much' }))).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    });
  });

  it('RUN-7: a pipeline in code says the same of its stages', async () => {
    const told = await as('a', () => workflows.dryRun(InCode, { amount: 12 }));
    expect(told).toEqual({
      ends: 'completed',
      path: [
        {
          node: 'acme.pay',
          type: 'acme.pay',
          visit: 1,
          would: 'Runs the stage acme.pay, after "expenses.pay" was allowed.',
          outcome: 'done',
          given: { amount: 12, note: 'none' },
          unknown: ['what it gives: it was not run'],
        },
        {
          node: 'book',
          type: 'acme.book',
          visit: 1,
          would: 'Runs the stage acme.book.',
          outcome: 'done',
          unknown: [
            'whether its `when` lets it run: what acme.pay gives is not known; say it in outputs; it is assumed',
            'its input: what acme.pay gives is not known; say it in outputs',
            'what it gives: it was not run',
          ],
        },
      ],
      problems: [],
    });
    const outputs = { 'acme.pay': { receipt: 'r-0' } };
    const skipped = await as('a', () => workflows.dryRun(InCode, { amount: 12 }, { outputs }));
    expect(skipped.path[1]).toMatchObject({ node: 'book', outcome: 'skipped' });
    const wrong = await as('a', () => workflows.dryRun(InCode, { amount: 12 }, { outputs: { 'acme.pay': {} } }));
    expect(wrong).toMatchObject({ ends: 'failed', problems: [{ node: 'book', code: 'INVALID_INPUT' }] });
  });

  it('RUN-7: a draft may be tried before it is published, and a faulty one says all that is wrong with it', async () => {
    const told = await as('a', () => definitions.dryRun(graph('new'), { amount: 1 }, { subject: about('e1') }));
    expect(told).toMatchObject({ ends: 'completed', outcome: 'paid' });
    const faulty = await as('a', () => definitions.dryRun({ id: 'draft', draft: true }, { amount: 1 }));
    expect(faulty).toMatchObject({ ends: 'failed', path: [] });
    expect(faulty.problems.map(({ code }) => code)).toEqual(expect.arrayContaining(['UNKNOWN_NODE']));
    expect(faulty.problems[0]).toMatchObject({ path: expect.stringMatching(/^\$/), message: expect.any(String) });
    await expect(as('a', () => definitions.dryRun('nowhere', {}))).rejects.toMatchObject({ code: 'GRAPH_NOT_FOUND' });
  });

  it('RUN-7: what is said of nodes that there are not, or that say it themselves, is refused at once', async () => {
    const options = { outputs: { childs: {}, near: true, pay: {} }, outcomes: { pay: 'refused', done: 'paid' } };
    await expect(as('a', () => workflows.dryRun('expense', { amount: 1 }, options))).rejects.toMatchObject({
      code: 'INVALID_OPTIONS',
      params: {
        problems: [
          { path: 'outputs.childs', message: 'is about no node of expense; did you mean "child"?' },
          { path: 'outputs.near', message: 'is what the condition itself says; say what it reads' },
          { path: 'outcomes.pay', message: 'must be one of its outcomes: done, skipped' },
          { path: 'outcomes.done', message: 'must be one of its outcomes: none' },
        ],
      },
    });
    await expect(as('a', () => definitions.dryRun(graph(), { amount: 1 }, { owner: 'b' }))).rejects.toMatchObject({
      code: 'INVALID_OPTIONS',
    });
    const unknown = { delay: '1s' } as unknown as DryRunOptions;
    await expect(as('a', () => workflows.dryRun('expense', { amount: 1 }, unknown))).rejects.toMatchObject({
      code: 'INVALID_OPTIONS',
    });
  });
});
