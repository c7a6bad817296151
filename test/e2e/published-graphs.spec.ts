import { Module } from '@nestjs/common';
import { LazyModuleLoader } from '@nestjs/core';
import type { TestingModule } from '@nestjs/testing';
import { ClsServiceManager } from 'nestjs-cls';
import { DefinitionsService, WorkflowService, type WorkflowModuleOptions } from 'nestjs-workflow-engine';
import { DataSource } from 'typeorm';
import { z } from 'zod';
import { validateGraph } from '../../lib/engine/graph/index.js';
import { freshDatabase, type FreshDatabase } from '../support/database.js';
import { until } from '../support/until.js';
import { startApp } from './app.js';
import { EXPENSES, expenseGraph, InCode, Note, Pay, payments } from './expenses.js';

const cls = ClsServiceManager.getClsService();

const as = <T>(team: string, fn: () => Promise<T>): Promise<T> =>
  cls.run(() => {
    cls.set('team', team);
    return fn();
  });

/** Two processes on one database: one that starts and executes nothing, one that executes and was told of nothing. */
describe('graphs that were published', () => {
  let database: FreshDatabase;
  let front: TestingModule;
  let worker: TestingModule;
  let definitions: DefinitionsService;
  let workflows: WorkflowService;
  let nth = 0;
  let id: string;

  const owners: WorkflowModuleOptions['owners'] = {
    resolve: (context) => (context.get('team') as string | undefined) ?? null,
  };

  beforeAll(async () => {
    database = await freshDatabase();
    front = await startApp({ database, providers: EXPENSES, workflow: { owners, worker: false } });
    worker = await startApp({ database, providers: EXPENSES, workflow: { owners } });
    definitions = front.get(DefinitionsService);
    workflows = front.get(WorkflowService);
  });
  afterAll(async () => {
    await front.close();
    await worker.close();
  });
  beforeEach(() => {
    nth += 1;
    id = `expenses-${nth}`;
    payments.length = 0;
  });

  const start = (team: string, amount: unknown, workflow: string = id) =>
    as(team, () => workflows.start(workflow, { amount }));
  const result = (team: string, { run }: Awaited<ReturnType<typeof start>>) =>
    as(team, () => workflows.result(run, { timeout: '20s' }));

  it('GRAPH-2: a published graph runs to its end, in a process that learns of it by the claim', async () => {
    await as('a', () => definitions.publish(expenseGraph('sepa', id)));
    const large = await start('a', 1200.5);
    await result('a', large);
    const { stages, run } = await as('a', () => workflows.history(large.run));
    expect(run).toMatchObject({ definition: id, version: 1, status: 'COMPLETED' });
    expect(stages.map(({ key, status }) => `${key} ${status}`)).toEqual(
      expect.arrayContaining(['large COMPLETED', 'note COMPLETED', 'pay COMPLETED']),
    );
    const small = await start('a', 5);
    await result('a', small);
    const { stages: fewer } = await as('a', () => workflows.history(small.run));
    expect(fewer.map(({ key }) => key)).not.toContain('note');
    expect(payments).toEqual([
      { amount: 1200.5, method: 'sepa' },
      { amount: 5, method: 'sepa' },
    ]);
  });

  it('GRAPH-2: starts take what was published last, wherever; runs stay on theirs', async () => {
    await as('a', () => definitions.publish(expenseGraph('v1', id)));
    const waiting = await as('a', () => workflows.start(id, { amount: 1 }, { delay: '1s' }));
    await as('a', () => worker.get(DefinitionsService).publish(expenseGraph('v2', id)));
    const next = await start('a', 2);
    await result('a', next);
    await as('a', () => definitions.retire(id));
    await result('a', waiting);
    const both = await Promise.all([waiting, next].map(({ run }) => as('a', () => workflows.get(run))));
    expect(both.map(({ version }) => version)).toEqual([1, 2]);
    expect(payments).toEqual(
      expect.arrayContaining([
        { amount: 1, method: 'v1' },
        { amount: 2, method: 'v2' },
      ]),
    );
    await expect(start('a', 3)).rejects.toMatchObject({ code: 'UNKNOWN_WORKFLOW' });
  });

  it('GRAPH-2: an input that does not fit is refused at the start, with its places', async () => {
    await as('a', () => definitions.publish(expenseGraph('sepa', id)));
    await expect(start('a', 'much')).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      params: { issues: [{ path: ['amount'], message: 'must be of type number' }] },
    });
    await expect(as('a', () => workflows.start(id, {}))).rejects.toMatchObject({
      params: { issues: [{ path: ['amount'], message: 'is missing' }] },
    });
  });

  it('OWNER-5: an owner starts his own graph before the shared one, and never another’s', async () => {
    await as('a', () => definitions.publish(expenseGraph('of a', id)));
    await expect(start('b', 1)).rejects.toMatchObject({ code: 'UNKNOWN_WORKFLOW' });
    await definitions.asOperator().publish(expenseGraph('of all', id));
    for (const team of ['a', 'b']) await result(team, await start(team, 1));
    expect(payments.map(({ method }) => method)).toEqual(['of a', 'of all']);
    const many = await as('a', () =>
      workflows.startMany(
        id,
        ['b', 'a', 'b'].map((owner, amount) => ({ input: { amount }, owner })),
      ),
    );
    for (const [at, owner] of ['b', 'a', 'b'].entries())
      await as(owner, () => workflows.result(many[at]!.run, { timeout: '20s' }));
    expect(payments.filter(({ method }) => method === 'of a').map(({ amount }) => amount)).toEqual([1, 1]);
  });

  it('LIMIT-3: a published graph starts sixty times a minute, for each owner who has one', async () => {
    await as('a', () => definitions.publish(expenseGraph('a', id)));
    await as('b', () => definitions.publish(expenseGraph('b', id)));
    const many = (team: string) =>
      as(team, () =>
        workflows.startMany(
          id,
          Array.from({ length: 61 }, () => ({ input: { amount: 1 }, delay: '1 day' })),
        ),
      );
    const refusals = async (team: string) => (await many(team)).filter(({ refused }) => refused).length;
    // A minute may end in between: the second of two then counts anew, and refuses one by itself.
    expect(await refusals('a')).toBe(1);
    expect(await refusals('b')).toBe(1);
  });

  it('GHOST-3: a graph whose stage this build does not have is left to one that does', async () => {
    await as('a', () => definitions.publish(expenseGraph('sepa', id)));
    const old = await startApp({ database, providers: [Note, InCode], workflow: { owners, worker: false } });
    try {
      await expect(as('a', () => old.get(WorkflowService).start(id, { amount: 1 }))).rejects.toMatchObject({
        code: 'UNKNOWN_WORKFLOW',
      });
    } finally {
      await old.close();
    }
  });

  it('GRAPH-2: another process cancels a run of a graph that it never met', async () => {
    await as('a', () => definitions.publish(expenseGraph('sepa', id)));
    const { run } = await as('a', () => workflows.start(id, { amount: 1 }, { delay: '1 day' }));
    const third = await startApp({ database, providers: EXPENSES, workflow: { owners, worker: false } });
    try {
      await as('a', () => third.get(WorkflowService).cancel(run));
    } finally {
      await third.close();
    }
    expect((await as('a', () => workflows.get(run))).status).toBe('CANCELLED');
  });

  it('GRAPH-2: what an earlier build published, knowing less of types, runs on, and is published no more', async () => {
    const asked = (text: string) => {
      const graph = expenseGraph('sepa', id);
      return {
        ...graph,
        nodes: graph.nodes.map((node) => (node.id === 'large' ? { ...node, config: { if: text } } : node)),
      };
    };
    const text = 'input.amount >= 1000 || input.amount';
    const { fingerprint } = await as('a', () => definitions.publish(asked('input.amount >= 1000')));
    const refused = expect.objectContaining({ code: 'INVALID_EXPRESSION', path: '$.nodes[0].config.if' }) as unknown;
    await expect(as('a', () => definitions.publish(asked(text)))).rejects.toMatchObject({ problems: [refused] });
    const validation = await validateGraph(asked(text), {
      types: { 'acme.pay': { config: z.any() }, 'acme.note': {} },
      published: true,
    });
    const earlier = validation.ok ? validation.graph.fingerprint : '';
    await front
      .get(DataSource)
      .query(`UPDATE workflow_graphs SET source = $1, fingerprint = $2 WHERE fingerprint = $3 AND definition_id = $4`, [
        JSON.stringify(asked(text)),
        earlier,
        fingerprint,
        id,
      ]);
    await result('a', await start('a', 1200));
    expect(payments).toEqual([{ amount: 1200, method: 'sepa' }]);
  });

  it('OWNER-4: what is stored under a key and is not what was published is not run', async () => {
    const { fingerprint } = await as('a', () => definitions.publish(expenseGraph('sepa', id)));
    const { run } = await as('a', () => workflows.start(id, { amount: 7 }, { delay: '1s' }));
    await front
      .get(DataSource)
      .query(`UPDATE workflow_graphs SET source = $1 WHERE fingerprint = $2 AND definition_id = $3`, [
        JSON.stringify(expenseGraph('forged', id)),
        fingerprint,
        id,
      ]);
    const third = await startApp({ database, providers: EXPENSES, workflow: { owners, worker: false } });
    try {
      await expect(as('a', () => third.get(WorkflowService).start(id, { amount: 7 }))).rejects.toMatchObject({
        code: 'UNKNOWN_WORKFLOW',
      });
    } finally {
      await third.close();
    }
    await as('a', () => workflows.cancel(run));
  });
});

@Module({ providers: [Pay] })
class PayModule {}

/** The only process that executes lacks a stage at first. */
describe('graphs that a process could not serve', () => {
  it('GHOST-3: their runs go on there once what they name has come, without a restart', async () => {
    const database = await freshDatabase();
    const front = await startApp({ database, providers: EXPENSES, workflow: { worker: false } });
    const worker = await startApp({
      database,
      providers: [Note, InCode],
      workflow: { versionDeferDelay: '1s', worker: { pollInterval: '100ms' } },
    });
    try {
      await front.get(DefinitionsService).publish(expenseGraph('late', 'late'));
      const { run } = await front.get(WorkflowService).start('late', { amount: 3 });
      const jobs = () =>
        front
          .get(DataSource)
          .query<{ n: number }[]>(`SELECT count(*)::int AS n FROM workflow_stage_runs WHERE deferrals > 0`);
      await until(async () => (await jobs())[0]!.n > 0);
      await worker.get(LazyModuleLoader, { strict: false }).load(() => PayModule);
      await front.get(WorkflowService).result(run, { timeout: '30s' });
      expect((await front.get(WorkflowService).get(run)).status).toBe('COMPLETED');
    } finally {
      await worker.close();
      await front.close();
    }
  });
});
