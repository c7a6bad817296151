import { AsyncLocalStorage } from 'node:async_hooks';
import { Injectable, type Provider } from '@nestjs/common';
import { ClsModule, ClsServiceManager } from 'nestjs-cls';
import {
  OnWorkflowEvent,
  Stage,
  Workflow,
  WorkflowPolicy,
  WorkflowService,
  type Flow,
  type OwnerContext,
  type StageContext,
  type WorkflowModuleOptions,
} from 'nestjs-workflow-engine';
import { WorkflowTester } from 'nestjs-workflow-engine/testing';
import { z } from 'zod';
import { testServerUrl } from '../support/database.js';
import { signal } from './app.js';

/** What the host keeps for an owner: whatever asks it sees whom it runs for. */
const tenant = new AsyncLocalStorage<string>();
/** What the host keeps for a request. */
const request = new AsyncLocalStorage<string>();
/** What was seen, in order. */
const seen: string[] = [];
const see = (what: string): void => void seen.push(`${what} ${tenant.getStore() ?? 'outside'}`);
const name = (owner: { readonly id: string | null }): string => owner.id ?? 'nobody';

@Injectable()
class Tenants implements OwnerContext {
  /** In place of what it does, once. */
  static next: OwnerContext['run'] | undefined;

  async run<T>(owner: { readonly id: string | null }, fn: () => Promise<T>): Promise<T> {
    const { next } = Tenants;
    Tenants.next = undefined;
    if (next) return next(owner, fn);
    seen.push(`> ${name(owner)}`);
    try {
      return await tenant.run(name(owner), fn);
    } finally {
      seen.push(`< ${name(owner)}`);
    }
  }
}

const input = z.any().refine(() => (see('input'), true));
const any = { input: z.any(), output: z.any() };
/** What the body does. */
let body: (ctx: StageContext<typeof any>) => unknown = () => null;

@Stage({ id: 'work', ability: 'work', ...any, retry: { maxAttempts: 2, backoff: ['1s'] } })
class Work {
  async execute(ctx: StageContext<typeof any>): Promise<any> {
    see('body');
    return (await body(ctx)) ?? null;
  }
  async cancel(): Promise<void> {
    see('hook');
  }
}
@WorkflowPolicy('work', { allowSystem: true })
class WorkPolicy {
  authorize(): boolean {
    see('policy');
    return true;
  }
}
@WorkflowPolicy('operate', { allowSystem: true })
class OperatePolicy {
  authorize(): boolean {
    see('operation');
    return true;
  }
}
@Workflow({ id: 'working', version: 1, input })
class Working {
  define(flow: Flow<typeof input>) {
    return flow.pipe(Work);
  }
}
@Stage({ id: 'small', ...any })
class Small {
  async execute(ctx: StageContext<typeof any>): Promise<any> {
    see(ctx.stage.node === 'small' ? 'child' : ctx.stage.node);
    return null;
  }
}
@Workflow({ id: 'child', version: 1, input })
class Child {
  define(flow: Flow<typeof input>) {
    return flow.pipe(Small);
  }
}
@Injectable()
class Handlers {
  @OnWorkflowEvent(['run:completed', 'run:cancelled'])
  ended(): void {
    see('handler');
  }
}

const PROVIDERS: Provider[] = [Tenants, Work, WorkPolicy, OperatePolicy, Working, Small, Child, Handlers];
const cls = ClsServiceManager.getClsService();

let tester: WorkflowTester;
const workflows = () => tester.app.get(WorkflowService);
const operator = () => workflows().asOperator();

async function app(owners: WorkflowModuleOptions['owners'] = {}, providers = PROVIDERS): Promise<void> {
  const ability = 'operate';
  tester = await WorkflowTester.create({
    server: testServerUrl(),
    imports: [ClsModule.forRoot({ global: true })],
    workflow: {
      owners: { context: Tenants, resolve: (context) => context.get('team') ?? null, ...owners },
      authorization: { operations: { cancel: ability, retry: ability, rerunFrom: ability, signal: ability } },
      subjects: { resolvers: { thing: { load: async () => (see('subject'), {}) } } },
    },
    providers,
  });
  // What booting did for nobody in particular.
  seen.length = 0;
}

/** Runs `fn` as a request of `team` would. */
const as = <T>(team: string, fn: () => Promise<T>): Promise<T> =>
  request.run(`of ${team}`, () =>
    cls.run(() => {
      cls.set('team', team);
      return fn();
    }),
  );

/** What was seen since it was asked last. */
const sights = (): string[] => seen.splice(0);
const within = (owner: string, ...what: string[]): string[] => [
  `> ${owner}`,
  ...what.map((one) => `${one} ${owner}`),
  `< ${owner}`,
];
const owned = (owner: string) => (owner === 'nobody' ? { owner: null } : { owner });

/** A run that sleeps, or has ended as it is said. */
async function run(owner: string, how: 'asleep' | 'failed' | 'done' = 'asleep'): Promise<string> {
  body = (ctx) => (how === 'asleep' ? ctx.step.sleep('long', '1 day') : null);
  if (how === 'failed')
    body = () => {
      throw new Error('no');
    };
  const { id } = await tester.start(Working, {}, owned(owner));
  await tester.drain();
  if (how === 'failed') await tester.travel('2s');
  body = () => null;
  sights();
  return id;
}

afterEach(() => {
  Tenants.next = undefined;
  body = () => null;
  seen.length = 0;
});
afterAll(() => tester.close());

describe('owners.context', () => {
  beforeAll(() => app());

  it.each(['a', 'nobody'])('OWNER-2: policy, body, child and handlers of a run of %s run within it', async (owner) => {
    body = (ctx) => ctx.step.runWorkflow('child', Child, {});
    const parent = await tester.start(Working, {}, owned(owner));
    expect(sights()).toEqual(within(owner, 'input'));
    await tester.drain();
    expect(await tester.status(parent)).toBe('COMPLETED');
    const all = sights();
    for (const what of ['policy', 'body', 'input', 'child', 'handler']) expect(all).toContain(`${what} ${owner}`);
    expect(all.filter((one) => !one.endsWith(` ${owner}`))).toEqual([]);
  });

  it.each(['a', 'nobody'])('OWNER-2, CANCEL-3: the cancel hook of a stage of %s runs within it', async (owner) => {
    const id = await run(owner);
    await operator().cancel(id);
    sights();
    await tester.drain();
    expect(
      sights()
        .filter((one) => !/^[<>]/.test(one))
        .toSorted(),
    ).toEqual([`handler ${owner}`, `hook ${owner}`, `input ${owner}`]);
  });

  const event = { key: 'paid', payload: {} };
  const subject = { type: 'thing', id: '1' };
  it.each<[string, (given: { owner: string | null }) => Promise<unknown>, string[]]>([
    ['start', (given) => workflows().start(Working, {}, { ...given, subject }), ['input', 'subject']],
    ['startMany', (given) => workflows().startMany(Working, [{ input: {}, ...given }]), ['input']],
    ['emit', (given) => workflows().emit({ ...event, ...given }), []],
    ['touch', (given) => workflows().touch(subject, given), []],
  ])('OWNER-2: %s runs within the owner it is for, once, in a request of another', async (_method, call, what) => {
    for (const owner of ['a', 'nobody']) {
      await as('b', () => call(owned(owner)));
      expect(sights()).toEqual(within(owner, ...what));
    }
    await tester.drain();
  });

  it.each<[string, 'asleep' | 'failed' | 'done', (id: string, by: WorkflowService) => Promise<unknown>, string[]]>([
    ['cancel', 'asleep', (id, by) => by.cancel(id), ['operation']],
    ['terminate', 'asleep', (id, by) => by.terminate(id), []],
    ['signal', 'asleep', (id, by) => by.signal(id, 'go'), ['operation']],
    ['migrateRun', 'asleep', (id, by) => by.migrateRun(id, 1).catch(() => null), []],
    ['retry', 'failed', (id, by) => by.retry(id), ['operation']],
    ['rerunFrom', 'done', (id, by) => by.rerunFrom(id, 'work'), ['operation']],
  ])(
    'OWNER-2: %s runs within the owner of the run, by its own and by an operator',
    async (_method, how, call, what) => {
      const own = await run('a', how);
      await as('a', () => call(own, workflows()));
      expect(sights()).toEqual(within('a', ...what));
      for (const owner of ['a', 'nobody']) {
        const id = await run(owner, how);
        await as('b', () => call(id, operator() as unknown as WorkflowService));
        expect(sights()).toEqual(within(owner, ...what));
      }
    },
  );

  it('OWNER-2: an operator’s call for a run that nobody has enters no owner', async () => {
    const nobodys = operator().cancel('018f0000-0000-7000-8000-000000000000');
    await expect(nobodys).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
    expect(sights()).toEqual([]);
  });

  it('OWNER-2: startMany for several owners checks and writes those of each within it, and answers in order', async () => {
    const owners = ['a', 'b', 'a', 'nobody'];
    const items = owners.map((owner, at) => ({ input: {}, idempotencyKey: `${at % 2}`, ...owned(owner) }));
    const started = await workflows().startMany(Working, items);
    expect(sights()).toEqual([
      ...within('a', 'input', 'input'),
      ...within('b', 'input'),
      ...within('nobody', 'input'),
      ...['a', 'b', 'nobody'].flatMap((owner) => within(owner)),
    ]);
    const views = await Promise.all(started.map(({ run: { id } }) => operator().get(id)));
    expect(views.map(({ owner }) => owner ?? 'nobody')).toEqual(owners);
    // The two of a stand under one key.
    expect(started.map(({ created }) => created)).toEqual([true, true, false, true]);
    expect(started[2]!.run.id).toBe(started[0]!.run.id);
    await tester.drain();
  });

  it('OWNER-2: a job that a request of b starts for a, and wakes the worker for, runs as a', async () => {
    const found: unknown[] = [];
    body = () => found.push([tenant.getStore(), cls.get('team'), request.getStore()]);
    await as('b', async () => {
      await tester.start(Working, {}, { owner: 'a' });
      sights();
      await tenant.run('b', () => tester.drain());
      expect([tenant.getStore(), cls.get('team'), request.getStore()]).toEqual([undefined, 'b', 'of b']);
    });
    expect(found).toEqual([['a', undefined, undefined]]);
    expect(sights().filter((one) => !one.endsWith(' a'))).toEqual([]);
  });

  it('OWNER-2, FAULT G13, FAULT H11: nothing leaks between the jobs of two owners on a warm worker', async () => {
    const found: unknown[] = [];
    const both = signal();
    let inside = 0;
    body = async (ctx) => {
      found.push([tenant.getStore(), cls.get('left'), request.getStore()]);
      cls.set('left', ctx.run.id);
      request.enterWith(`left by ${ctx.run.id}`);
      if (++inside === 2) both.resolve();
      await both.promise;
      see('met');
    };
    await tester.start(Working, {}, { owner: 'a' });
    await tester.start(Working, {}, { owner: 'b' });
    await as('c', () => tester.drain());
    await tester.start(Working, {}, { owner: null });
    await tester.drain();
    expect(found.toSorted()).toEqual([
      ['a', undefined, undefined],
      ['b', undefined, undefined],
      ['nobody', undefined, undefined],
    ]);
    expect(
      sights()
        .filter((one) => one.startsWith('met'))
        .toSorted(),
    ).toEqual(['met a', 'met b', 'met nobody']);
    expect([tenant.getStore(), request.getStore()]).toEqual([undefined, undefined]);
  });

  it('OWNER-2, WAIT-1: a stage that falls asleep leaves its owner', async () => {
    body = (ctx) => ctx.step.sleep('long', '1 day');
    await tester.start(Working, {}, { owner: 'a' });
    sights();
    await tester.drain();
    expect(sights()).toEqual(within('a', 'policy', 'input', 'body'));
  });

  it('OWNER-2: where it throws a start rejects with that, and nothing is written', async () => {
    const error = new Error('no such schema');
    Tenants.next = () => Promise.reject(error);
    const before = await operator().count();
    await expect(workflows().start(Working, {}, { owner: 'a' })).rejects.toBe(error);
    expect(await operator().count()).toEqual(before);
  });

  it('OWNER-2, RETRY-1: where it throws a job fails as an attempt, and is tried again', async () => {
    const { id } = await tester.start(Working, {}, { owner: 'a' });
    sights();
    Tenants.next = () => Promise.reject(new Error('no connection'));
    await tester.drain();
    expect(sights()).toEqual([]);
    expect((await tester.history(id)).stages).toMatchObject([
      { status: 'PENDING', failedAttempts: [{ attempt: 1, code: 'EXCEPTION', message: 'no connection' }] },
    ]);
    await tester.travel('2s');
    expect(await tester.status(id)).toBe('COMPLETED');
    expect(sights()).toContain('body a');
  });

  it.each<[string, OwnerContext['run'], string]>([
    ['never', async () => undefined as never, 'not at all'],
    ['twice', async (_, fn) => (await fn(), fn()), 'more than once'],
  ])('OWNER-2: one that calls its function %s is told so, in starts and in jobs', async (_often, next, how) => {
    Tenants.next = next;
    const misused = { code: 'OWNER_CONTEXT_MISUSED', params: { owner: 'a', how } };
    await expect(workflows().emit({ ...event, owner: 'a' })).rejects.toMatchObject(misused);
    const { id } = await tester.start(Working, {}, { owner: 'a' });
    Tenants.next = next;
    await tester.drain();
    expect((await operator().get(id)).failure).toMatchObject({ code: 'OWNER_CONTEXT_MISUSED' });
    await operator().retry(id);
    await tester.drain();
    expect(await tester.status(id)).toBe('COMPLETED');
  });
});

describe('what owners.context may be', () => {
  const INVALID = { code: 'INVALID_OPTIONS' };

  it.each<[string, unknown, Provider[], string]>([
    ['a class that is no provider', Tenants, [], 'Tenants is no provider of this app'],
    ['a provider without run', Handlers, [Handlers], 'Handlers has no method run(owner, fn)'],
    ['an object without run', {}, [], 'give it the class of a provider, or an object with run()'],
  ])('OWNER-2: %s stops the app with a sentence', async (_what, context, providers, sentence) => {
    const options = { workflow: { owners: { context: context as never } }, store: 'memory' as const, providers };
    const boot = WorkflowTester.create(options);
    await expect(boot).rejects.toMatchObject(INVALID);
    await expect(boot).rejects.toThrow(`owners.context`);
    await expect(boot).rejects.toThrow(sentence);
  });

  it('OWNER-2: an object will do', async () => {
    const owners: unknown[] = [];
    const context: OwnerContext = { run: (owner, fn) => (owners.push(owner.id), fn()) };
    const other = await WorkflowTester.create({
      workflow: { owners: { context } },
      store: 'memory',
      providers: PROVIDERS,
    });
    await other.start(Working, {}, { owner: 'a' });
    await other.close();
    expect(owners).toEqual(['a']);
  });
});
