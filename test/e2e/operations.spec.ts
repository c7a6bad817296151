import { Inject, Injectable, Scope } from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import {
  AuditService,
  deny,
  Stage,
  Workflow,
  WorkflowPolicy,
  WorkflowService,
  type AuthorizationRequest,
  type Flow,
  type OperationAuthorization,
  type StageContext,
  type WorkflowModuleOptions,
} from 'nestjs-workflow-engine';
import { ClsServiceManager } from 'nestjs-cls';
import type { TestingModule } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import { z } from 'zod';
import { CONTEXT_KEYS } from '../../lib/context/context-keys.js';
import { until } from '../support/until.js';
import { startApp } from './app.js';

const any = { input: z.any(), output: z.any() };

/** What the one stage does, as a test wants it. */
let body: (ctx: StageContext<typeof any>, workflows: WorkflowService) => unknown = () => null;

@Stage({ id: 'work', ...any })
class Work {
  constructor(private readonly workflows: WorkflowService) {}

  execute(ctx: StageContext<typeof any>) {
    return body(ctx, this.workflows);
  }
}

@Workflow({ id: 'task', version: 1, input: any.input, actor: 'on_behalf_of' })
class Task {
  define(flow: Flow<typeof any.input>) {
    return flow.pipe(Work);
  }
}

const asked: AuthorizationRequest[] = [];

@WorkflowPolicy('runs.cancel')
class CancelPolicy {
  authorize(request: OperationAuthorization) {
    asked.push(request);
    return (request.actor as { may?: boolean }).may || deny(`no ${request.operation} for ${request.owner as string}`);
  }
}

const OPERATIONS: WorkflowModuleOptions['authorization'] = {
  operations: { cancel: 'runs.cancel', retry: 'runs.nobody-serves-this' },
};
const ADA = { id: 'ada', may: true };
const BOB = { id: 'bob' };

const cls = ClsServiceManager.getClsService();

function as<T>(actor: unknown, fn: () => Promise<T>, team = 'a'): Promise<T> {
  return cls.run(async () => {
    cls.set('team', team);
    cls.set(CONTEXT_KEYS.actor, actor);
    return fn();
  });
}

let app: TestingModule;
let workflows: WorkflowService;
let audit: AuditService;

async function boot(
  authorization: WorkflowModuleOptions['authorization'],
  providers: NonNullable<Parameters<typeof startApp>[0]>['providers'] = [CancelPolicy],
  load = (id: string): unknown => `team ${id}`,
) {
  asked.length = 0;
  body = () => null;
  app = await startApp({
    providers: [Work, Task, ...(providers ?? [])],
    workflow: { authorization, owners: { resolve: (store) => store.get('team'), load } },
  });
  // What policies throw is logged.
  app.useLogger(false);
  workflows = app.get(WorkflowService);
  audit = app.get(AuditService);
}

const later = async () => (await as(BOB, () => workflows.start(Task, {}, { delay: '1h' }))).run;
const entries = async () => (await audit.asOperator().list()).entries;
const statusOf = async (run: { readonly id: string }) => (await workflows.asOperator().get(run.id)).status;

describe('operators’ calls on PostgreSQL', () => {
  beforeAll(() => boot(OPERATIONS));
  afterAll(() => app.close());

  it('AUTH-5, AUDIT-1: the policy of the operation decides, and its answer is kept', async () => {
    const run = await later();
    await expect(as(BOB, () => workflows.cancel(run, 'please'))).rejects.toMatchObject({
      code: 'AUTHORIZATION_DENIED',
      message: expect.stringContaining(
        `Operation cancel on run ${run.id} was denied the ability "runs.cancel": no cancel for team a.`,
      ),
    });
    expect(await statusOf(run)).toBe('PENDING');
    await as(ADA, () => workflows.cancel(run, 'please'));
    expect(await statusOf(run)).toBe('CANCELLED');
    expect(asked.at(-1)).toEqual({
      kind: 'operation',
      operation: 'cancel',
      run: { id: run.id, definition: 'task', version: 1, status: 'PENDING', owner: 'a', subject: null },
      actor: ADA,
      owner: 'team a',
      ability: 'runs.cancel',
      reason: 'please',
    });
    expect(await as(ADA, () => audit.list({ run }))).toMatchObject({
      entries: [
        { allowed: true, actor: ADA, reason: 'please', source: 'service', details: {} },
        { allowed: false, actor: BOB, reason: 'no cancel for team a', details: { reason: 'please' } },
      ],
      after: null,
    });
    expect(await as(ADA, () => audit.list({ run }), 'b')).toMatchObject({ entries: [] });
  });

  it('AUTH-5: an ability that no policy serves is denied, and so is whoever is nobody', async () => {
    const run = await later();
    await expect(as(ADA, () => workflows.retry(run))).rejects.toMatchObject({
      params: { operation: 'retry', reason: 'no policy of this app serves it' },
    });
    await expect(as(undefined, () => workflows.cancel(run))).rejects.toMatchObject({
      params: { reason: 'no actor is set here, which the policy does not allow' },
    });
  });

  it('AUTH-5: an operation without an ability is allowed, and kept', async () => {
    const run = await later();
    await as(BOB, () => workflows.terminate(run, 'over'));
    expect(await entries()).toEqual(
      expect.arrayContaining([expect.objectContaining({ action: 'terminate', runId: run.id, ability: null })]),
    );
  });

  it('AUDIT-1, RUN-1: within a transaction of the host the entry is a part of it; a denial stays when it is rolled back', async () => {
    const dataSource = app.get(DataSource);
    const run = await later();
    const rolledBack = dataSource.transaction(async (manager) => {
      await as(ADA, () => workflows.cancel(run, 'undone', { manager }));
      throw new Error('on purpose');
    });
    await expect(rolledBack).rejects.toThrow('on purpose');
    const denied = dataSource.transaction((manager) => as(BOB, () => workflows.cancel(run, 'denied', { manager })));
    await expect(denied).rejects.toMatchObject({ code: 'AUTHORIZATION_DENIED' });
    expect(await statusOf(run)).toBe('PENDING');
    expect((await audit.asOperator().list({ run })).entries).toMatchObject([{ allowed: false }]);
    await dataSource.transaction(async (manager) => {
      await as(ADA, () => workflows.signal(run, 'go', null, { manager, reason: 'why not' }));
      await as(ADA, () => workflows.cancel(run, 'done', { manager }));
    });
    expect((await audit.asOperator().list({ run })).entries).toMatchObject([
      { action: 'cancel', allowed: true, reason: 'done' },
      { action: 'signal', allowed: true, reason: 'why not', details: { name: 'go' } },
      { allowed: false },
    ]);
  });

  it('AUTH-5: a run that the same transaction started is asked about', async () => {
    const run = await app.get(DataSource).transaction(async (manager) => {
      const started = await as(ADA, () => workflows.start(Task, {}, { manager, delay: '1h' }));
      await as(ADA, () => workflows.cancel(started.run, 'at once', { manager }));
      return started.run;
    });
    expect(await statusOf(run)).toBe('CANCELLED');
  });

  it('AUDIT-1, AUTH-5: a stage that calls asks for whom its run acts; the entry names that run', async () => {
    const victim = await later();
    body = async (_ctx, service) => service.cancel(victim, 'by a stage');
    const { run } = await as(ADA, () => workflows.start(Task, {}));
    await workflows.asOperator().result(run);
    expect((await audit.asOperator().list({ run: victim })).entries).toMatchObject([
      { allowed: true, actor: ADA, source: `run ${run.id}`, reason: 'by a stage' },
    ]);
  });

  it('AUTH-5: what the engine does by itself asks nobody, and is not kept', async () => {
    body = async (ctx) => {
      if (ctx.run.definition === 'task' && (ctx.input as { parent?: boolean }).parent)
        await ctx.step.runWorkflow('child', Task, {});
      else await ctx.step.sleep('long', '1h');
      return null;
    };
    const { run } = await as(ADA, () => workflows.start(Task, { parent: true }));
    const children = async () => {
      const { runs } = await workflows.asOperator().list({ definition: 'task', status: 'RUNNING' });
      return runs.filter(({ id }) => id !== run.id);
    };
    const waiting = async () => {
      const [child] = await children();
      return child && (await workflows.asOperator().get(child.id)).waiting ? child : undefined;
    };
    const child = await until(waiting);
    asked.length = 0;
    await as(ADA, () => workflows.cancel(run, 'with its child'));
    await expect(workflows.asOperator().result(child.id)).rejects.toMatchObject({ code: 'RUN_CANCELLED' });
    expect(asked).toHaveLength(1);
    expect((await audit.asOperator().list({ run: child.id })).entries).toEqual([]);
  });
});

describe('an authorizer of the host', () => {
  afterEach(() => app.close());

  const refuses = async (answer: () => unknown, reason: string) => {
    const authorize = (request: AuthorizationRequest) => (request.kind === 'stage' ? true : answer());
    await boot({ authorizer: { authorize } as never, ...(reason.endsWith('50 ms') && { timeout: 50 }) });
    const run = await later();
    const calls: Record<string, () => Promise<unknown>> = {
      cancel: () => workflows.cancel(run),
      terminate: () => workflows.terminate(run),
      retry: () => workflows.retry(run),
      rerunFrom: () => workflows.rerunFrom(run, 'work'),
      migrateRun: () => workflows.migrateRun(run, 1),
      signal: () => workflows.signal(run, 'go'),
    };
    for (const [operation, call] of Object.entries(calls)) {
      await expect(as(ADA, call)).rejects.toMatchObject({
        code: 'AUTHORIZATION_DENIED',
        params: { operation, ability: null, reason },
      });
    }
    expect(await statusOf(run)).toBe('PENDING');
    const kept = await entries();
    expect(kept.map(({ action }) => action).reverse()).toEqual(Object.keys(calls));
    expect(kept.every(({ allowed }) => !allowed)).toBe(true);
    const rows = await app.get(DataSource).query('SELECT (SELECT count(*)::int FROM workflow_events) AS events');
    expect(rows).toEqual([{ events: 0 }]);
  };

  it.each([
    [
      'throws',
      () => {
        throw new Error('secret');
      },
      'the authorizer threw an error',
    ],
    ['rejects', () => Promise.reject(new Error('secret')), 'the authorizer threw an error'],
    ['hangs', () => new Promise(() => undefined), 'the authorizer did not answer within 50 ms'],
    ['says undefined', () => undefined, 'the authorizer gave no answer'],
  ])(
    'AUTH-5: that %s has denied every operation, and nothing but the audit is written',
    async (_what, answer, reason) => {
      await refuses(answer, reason);
    },
  );

  it('AUTH-5: an owner that can not be loaded is nobody to decide about', async () => {
    const load = (id: string) => (id === 'a' ? 'team a' : Promise.reject(new Error('away')));
    await boot({ authorizer: { authorize: () => true } }, [], load);
    const own = await as(ADA, () => workflows.start(Task, {}, { owner: 'b', delay: '1h' }));
    await expect(as(ADA, () => workflows.asOperator().cancel(own.run))).rejects.toMatchObject({
      params: { reason: 'owners.load threw an error' },
    });
  });

  it('AUTH-2, AUTH-5: one that is made for each call is given the operation as its request', async () => {
    const made: unknown[] = [];
    @Injectable({ scope: Scope.REQUEST })
    class Scoped {
      constructor(@Inject(REQUEST) request: object) {
        made.push(request);
      }

      authorize() {
        return true;
      }
    }
    await boot({ authorizer: Scoped }, [Scoped]);
    const run = await later();
    await as(ADA, () => workflows.cancel(run));
    expect(made).toEqual([{ runId: run.id, operation: 'cancel', ownerId: 'a' }]);
  });
});
