import { readFileSync } from 'node:fs';
import { Injectable, Scope, type Provider } from '@nestjs/common';
import { getDataSourceToken, TypeOrmModule } from '@nestjs/typeorm';
import {
  Stage,
  Workflow,
  WorkflowPolicy,
  WorkflowService,
  WorkflowSubject,
  type Flow,
  type StageAuthorization,
  type StageContext,
  type SubjectLoadContext,
  type SubjectResolver,
  type WorkflowEvent,
  type WorkflowModuleOptions,
} from 'nestjs-workflow-engine';
import { WorkflowTester } from 'nestjs-workflow-engine/testing';
import { Column, DataSource, Entity, PrimaryColumn } from 'typeorm';
import { v4 } from 'uuid';
import { z } from 'zod';
import { testServerUrl } from '../support/database.js';
import { Expense, PayOut, PayOutExpense, PayOutPolicy } from './subjects-example.js';

const EXAMPLE = [PayOut, PayOutPolicy, PayOutExpense];
const any = { input: z.any(), output: z.any() };

let tester: WorkflowTester;
let database: DataSource;
afterEach(() => tester?.close());

interface Given {
  readonly entities?: Function[];
  readonly workflow?: WorkflowModuleOptions;
}

async function app(providers: Provider[], { entities = [Expense], workflow = {} }: Given = {}): Promise<void> {
  tester = await WorkflowTester.create({
    server: testServerUrl(),
    imports: ({ url }) => [
      TypeOrmModule.forRoot({ type: 'postgres', url, entities, synchronize: true, retryAttempts: 0 }),
    ],
    workflow,
    providers,
  });
  database = tester.app.get<DataSource>(getDataSourceToken());
}

const operator = () => tester.app.get(WorkflowService).asOperator();
const workflows = () => tester.app.get(WorkflowService);

async function expense(given: Partial<Expense> = {}): Promise<Expense> {
  return database.manager.save(Expense, { id: v4(), teamId: 'team-a', amount: 400, status: 'approved', ...given });
}

const about = (id: string, owner = 'team-a') => ({ owner, subject: { type: 'expense', id } });

/** What became of a run, once nothing is due. */
async function outcome(run: { readonly id: string }): Promise<string> {
  await tester.drain();
  const { failure, status } = await operator().get(run);
  return failure ? `${failure.code}: ${failure.message}` : status;
}

/** A workflow of one stage `look`, and what it did. */
function looking(body: (ctx: StageContext<typeof any>) => unknown = () => null) {
  const did: string[] = [];
  @Stage({ id: 'look', ability: 'look', ...any, retry: { maxAttempts: 2, backoff: ['1s'] } })
  class Look {
    async execute(ctx: StageContext<typeof any>): Promise<any> {
      did.push('body');
      return body(ctx);
    }
  }
  @WorkflowPolicy('look', { allowSystem: true })
  class LookPolicy {
    authorize({ subject }: StageAuthorization) {
      did.push(`policy ${(subject as Expense | null)?.amount}`);
      return true;
    }
  }
  @Workflow({ id: 'looking', version: 1, input: any.input })
  class Looking {
    define(flow: Flow<typeof any.input>) {
      return flow.pipe(Look);
    }
  }
  return { did, providers: [Look, LookPolicy, Looking] };
}

describe('docs/subjects.md', () => {
  it('OWNER-3: shows what is run here, to the letter', () => {
    const [shown] = /(?<=```ts\n)[\s\S]*?(?=```)/.exec(readFileSync('docs/subjects.md', 'utf8'))!;
    expect(shown).toContain('@WorkflowSubject');
    expect(readFileSync('test/e2e/subjects-example.ts', 'utf8')).toContain(shown);
  });

  it('OWNER-3, AUTH-1: a body and a policy get the entity that the run is about', async () => {
    await app(EXAMPLE);
    const [small, large] = [await expense(), await expense({ amount: 4_000 })];
    const paid = await tester.start(PayOutExpense, {}, about(small.id));
    expect(await outcome(paid)).toBe('COMPLETED');
    expect(await tester.result(paid)).toEqual({ paid: 400 });
    const denied = await tester.start(PayOutExpense, {}, about(large.id));
    expect(await outcome(denied)).toContain('AUTHORIZATION_DENIED: Stage pay-out was denied');
  });
});

describe('the subject of a run', () => {
  it('OWNER-3, TX-1: is checked first, then the policy is asked, then the body called', async () => {
    const { did, providers } = looking(async (ctx) => (await ctx.subject<Expense>()).amount);
    await app(providers);
    const run = await tester.start('looking', {}, about((await expense()).id));
    expect(await outcome(run)).toBe('COMPLETED');
    expect(did).toEqual(['policy 400', 'body']);
  });

  it('OWNER-3, RETRY-3: one that is missing fails the stage before anything of it is called, once; by hand it is retried', async () => {
    const { did, providers } = looking();
    await app(providers);
    const id = v4();
    const run = await tester.start('looking', {}, about(id));
    expect(await outcome(run)).toMatch(/^SUBJECT_MISSING: The subject expense \S+ does not exist/);
    expect(did).toEqual([]);
    expect((await operator().history(run)).stages).toMatchObject([{ attempt: 1, status: 'FAILED' }]);
    await expense({ id });
    await operator().retry(run);
    expect(await outcome(run)).toBe('COMPLETED');
  });

  it('OWNER-3: another owner’s reads as missing, to the letter; so does an id that can be none', async () => {
    const { did, providers } = looking();
    await app(providers);
    const [theirs, nowhere] = [(await expense({ teamId: 'team-b' })).id, v4()];
    const outcomes = [];
    for (const id of [theirs, nowhere, 'no-uuid']) {
      outcomes.push((await outcome(await tester.start('looking', {}, about(id)))).replace(id, '…'));
    }
    expect(new Set(outcomes)).toEqual(new Set([expect.stringContaining('SUBJECT_MISSING')]));
    expect(did).toEqual([]);
    const again = await tester.start('looking', {}, about(theirs));
    expect(await outcome(again)).toContain('SUBJECT_MISSING');
    await operator().retry(again);
    expect(await outcome(again)).toContain('SUBJECT_MISSING');
  });

  it('OWNER-3: one whose owner changed since the start is OWNER_MISMATCH, and goes on by hand once it is back', async () => {
    const { did, providers } = looking();
    await app(providers);
    const { id } = await expense();
    const run = await tester.start('looking', {}, about(id));
    await database.manager.update(Expense, id, { teamId: 'team-b' });
    expect(await outcome(run)).toMatch(/^OWNER_MISMATCH: The subject expense \S+ belongs to another owner now/);
    expect(did).toEqual([]);
    expect((await operator().history(run)).stages).toMatchObject([{ attempt: 1 }]);
    await database.manager.update(Expense, id, { teamId: 'team-a' });
    await operator().retry(run);
    expect(await outcome(run)).toBe('COMPLETED');
  });

  it('OWNER-3, RUN-1: one that is made in the transaction of the start counts as seen there', async () => {
    const { providers } = looking();
    await app(providers);
    const id = v4();
    const { run } = await database.transaction(async (manager) => {
      await manager.save(Expense, { id, teamId: 'team-a', amount: 1 });
      return workflows().start('looking', {}, { ...about(id), manager });
    });
    await database.manager.update(Expense, id, { teamId: 'team-b' });
    expect(await outcome(run)).toContain('OWNER_MISMATCH');
  });

  it('FAULT A18: a start in a transaction about an id that can be none leaves the transaction whole', async () => {
    const { providers } = looking();
    await app(providers);
    const { run } = await database.transaction(async (manager) => {
      const started = await workflows().start('looking', {}, { ...about('x'), manager });
      await manager.save(Expense, { id: v4(), teamId: 'team-a', amount: 1 });
      return started;
    });
    expect(await database.manager.count(Expense)).toBe(1);
    expect(await outcome(run)).toContain('SUBJECT_MISSING');
  });

  it('OWNER-3: is loaded once for each attempt, however often a body asks, and anew when it goes on', async () => {
    const loads: SubjectLoadContext[] = [];
    const resolver: SubjectResolver = { load: (_, context) => (loads.push(context), { amount: loads.length }) };
    const { did, providers } = looking(async (ctx) => {
      const [one, two] = await Promise.all([ctx.subject<Expense>(), ctx.subject<Expense>()]);
      expect(one).toBe(two);
      await ctx.step.sleep('a while', '1 h');
      return one.amount;
    });
    await app(providers, { workflow: { subjects: { resolvers: { thing: resolver } } } });
    const run = await tester.start('looking', {}, { owner: 'team-a', subject: { type: 'thing', id: '1' } });
    await tester.drain();
    await tester.travel('2 h');
    // The first look was the start's.
    expect(loads.map(({ ownerId }) => ownerId)).toEqual(['team-a', 'team-a', 'team-a']);
    expect(did).toEqual(['policy 2', 'body', 'policy 3', 'body']);
    expect(await tester.result(run)).toBe(3);
  });

  it('OWNER-3, RETRY-2: a resolver that throws fails the attempt, which is retried', async () => {
    let down = true;
    const resolver: SubjectResolver = {
      load: () => {
        if (down) throw new Error('the database is away');
        return { amount: 1 };
      },
    };
    const { did, providers } = looking();
    await app(providers, { workflow: { subjects: { resolvers: { thing: resolver } } } });
    const run = await tester.start('looking', {}, { subject: { type: 'thing', id: '1' } });
    await tester.drain();
    expect(did).toEqual([]);
    expect((await operator().history(run)).stages).toMatchObject([
      { status: 'PENDING', attempt: 1, error: { code: 'EXCEPTION', message: 'the database is away' } },
    ]);
    down = false;
    await tester.travel('5s');
    expect(await tester.status(run)).toBe('COMPLETED');
  });

  it('OWNER-3: a resolver may be a provider, request-scoped too, and say whose a subject is', async () => {
    const made: object[] = [];
    const owners = new Map([['1', 'team-a']]);
    @Injectable({ scope: Scope.REQUEST })
    class Things implements SubjectResolver<{ id: string }> {
      constructor() {
        made.push(this);
      }
      load({ id }: { id: string }) {
        return owners.has(id) ? { id } : null;
      }
      ownerOf({ id }: { id: string }) {
        return owners.get(id)!;
      }
    }
    const { did, providers } = looking();
    await app([...providers, Things], { workflow: { subjects: { resolvers: { thing: Things } } } });
    const thing = { subject: { type: 'thing', id: '1' } };
    expect(await outcome(await tester.start('looking', {}, { owner: 'team-a', ...thing }))).toBe('COMPLETED');
    expect(await outcome(await tester.start('looking', {}, { owner: 'team-b', ...thing }))).toContain(
      'SUBJECT_MISSING',
    );
    expect(await outcome(await tester.start('looking', {}, { owner: null, ...thing }))).toContain('SUBJECT_MISSING');
    const moved = await tester.start('looking', {}, { owner: 'team-a', ...thing });
    owners.set('1', 'team-b');
    expect(await outcome(moved)).toContain('OWNER_MISMATCH');
    expect(did).toEqual(['policy undefined', 'body']);
    expect(made).toHaveLength(8);
  });

  it('OWNER-3: a type that nobody loads is a name only; a body that asks for it is told what to do', async () => {
    const { did, providers } = looking((ctx) => ctx.subject());
    await app(providers);
    const run = await tester.start('looking', {}, { subject: { type: 'invoice', id: '1' } });
    expect(await outcome(run)).toMatch(
      /^INVALID_OPTIONS: [^]*nobody loads subjects of type "invoice": mark its entity/,
    );
    expect(did).toEqual(['policy undefined', 'body']);
    expect(await outcome(await tester.start('looking', {}))).toMatch(/is about nothing: start it with/);
  });

  it('OWNER-3, STEP-9: a child is about what its parent is about, unless it says otherwise', async () => {
    const { providers } = looking(async (ctx) => (await ctx.subject<Expense>()).amount);
    @Stage({ id: 'parent', ...any })
    class Parent {
      async execute(ctx: StageContext<typeof any>): Promise<any> {
        const other = { type: 'expense', id: ctx.input.other };
        return [
          await ctx.step.runWorkflow('same', 'looking', {}),
          await ctx.step.runWorkflow('other', 'looking', {}, { subject: other }),
          await ctx.step.runWorkflow('none', 'looking', {}, { subject: null }).catch((error) => error.message),
          await ctx.step.runWorkflow('wrong', 'looking', {}, { subject: undefined }).catch((error) => error.message),
        ];
      }
    }
    @Workflow({ id: 'parents', version: 1, input: any.input })
    class Parents {
      define(flow: Flow<typeof any.input>) {
        return flow.pipe(Parent);
      }
    }
    await app([...providers, Parent, Parents]);
    const [mine, other] = [await expense(), await expense({ amount: 7 })];
    const run = await tester.start('parents', { other: other.id }, about(mine.id));
    expect(await outcome(run)).toBe('COMPLETED');
    expect(await tester.result(run)).toEqual([
      400,
      7,
      expect.stringContaining('is about nothing'),
      expect.stringContaining('subject: must be { type, id }'),
    ]);
    const { runs } = await operator().list({ subject: { type: 'expense', id: mine.id } });
    expect(runs.map(({ definition }) => definition)).toEqual(['looking', 'parents']);
  });

  it('EVT-1: is named by events', async () => {
    const { providers } = looking();
    await app(providers);
    const events: WorkflowEvent[] = [];
    operator()
      .events()
      .subscribe((event) => events.push(event));
    const { id } = await expense();
    await tester.start('looking', {}, about(id));
    await tester.drain();
    expect(new Set(events.map(({ subject }) => subject?.id))).toEqual(new Set([id]));
  });

  it('CANCEL-3, OWNER-3: a cancel hook may ask for it, and is called though it is gone', async () => {
    const seen: unknown[] = [];
    @Stage({ id: 'held', ...any })
    class Held {
      async execute(ctx: StageContext<typeof any>): Promise<any> {
        await ctx.step.waitForSignal('never');
      }
      async cancel(ctx: StageContext<typeof any>) {
        seen.push(
          await ctx.subject<Expense>().then(
            ({ amount }) => amount,
            ({ code }) => code,
          ),
        );
      }
    }
    @Workflow({ id: 'holding', version: 1, input: any.input })
    class Holding {
      define(flow: Flow<typeof any.input>) {
        return flow.pipe(Held);
      }
    }
    await app([Held, Holding]);
    const [there, gone] = [await expense(), await expense()];
    const runs = [
      await tester.start('holding', {}, about(there.id)),
      await tester.start('holding', {}, about(gone.id)),
    ];
    await tester.drain();
    await database.manager.delete(Expense, gone.id);
    for (const run of runs) await operator().cancel(run);
    await tester.drain();
    expect(new Set(seen)).toEqual(new Set([400, 'SUBJECT_MISSING']));
  });
});

describe('a subject that changes', () => {
  const polls = async (): Promise<number> => {
    const { stages } = await operator().history((await operator().list()).runs[0]!);
    return stages[0]!.steps[0]!.attempt;
  };
  /** A run that waits for its expense to be approved, by the hour. */
  async function waiting(workflow: WorkflowModuleOptions = {}, given: Partial<Expense> = {}) {
    await app(EXAMPLE, { workflow });
    const { id } = await expense({ status: 'open', ...given });
    const run = await tester.start(PayOutExpense, {}, about(id));
    await tester.drain();
    expect(await operator().get(run)).toMatchObject({ waiting: true });
    return { id, run };
  }

  it('WAIT-1: lets polls look at once when its entity is saved, long before their time', async () => {
    const { id, run } = await waiting();
    await database.manager.save(Expense, { id, status: 'approved' });
    expect(await outcome(run)).toBe('COMPLETED');
  });

  it('WAIT-1: is told of once, after the commit of a transaction, and not of one that is rolled back', async () => {
    const { id, run } = await waiting();
    const failing = database.transaction(async (manager) => {
      await manager.save(Expense, { id, amount: 1 });
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    await tester.drain();
    expect(await polls()).toBe(1);
    await database.transaction(async (manager) => {
      for (const amount of [5, 6]) await manager.save(Expense, { id, amount });
      // A savepoint is no commit.
      await manager.transaction((nested) => nested.save(Expense, { id, amount: 7 }));
      await tester.drain();
      expect(await polls()).toBe(1);
    });
    await tester.drain();
    expect(await polls()).toBe(2);
    expect(await tester.status(run)).toBe('RUNNING');
  });

  it('WAIT-1, OWNER-3: is seen when it is removed, and when it goes to another owner', async () => {
    const first = await waiting();
    await database.manager.save(Expense, { id: first.id, teamId: 'team-b' });
    expect(await outcome(first.run)).toContain('OWNER_MISMATCH');
    const { id } = await expense({ status: 'open' });
    const second = await tester.start(PayOutExpense, {}, about(id));
    await tester.drain();
    await database.manager.remove(await database.manager.findOneByOrFail(Expense, { id }));
    expect(await outcome(second)).toContain('SUBJECT_MISSING');
  });

  it('WAIT-1: is not seen where it is written by criteria, or autoTouch is off; touch() says it, in a transaction too', async () => {
    const { id, run } = await waiting({ subjects: { autoTouch: false } });
    await database.manager.save(Expense, { id, status: 'approved' });
    await tester.drain();
    expect(await tester.status(run)).toBe('RUNNING');
    expect(await workflows().touch({ type: 'expense', id }, { owner: 'team-b' })).toEqual({ polls: 0 });
    const touch = (then: () => void) =>
      database.transaction(async (manager) => {
        await workflows().touch({ type: 'expense', id }, { owner: 'team-a', manager });
        then();
      });
    const refused = touch(() => {
      throw new Error('rolled back');
    });
    await expect(refused).rejects.toThrow('rolled back');
    await tester.drain();
    expect(await tester.status(run)).toBe('RUNNING');
    await touch(() => undefined);
    expect(await outcome(run)).toBe('COMPLETED');
  });

  it('WAIT-1: a touch that fails fails nothing of the host’s', async () => {
    const { id } = await waiting();
    await database.query('ALTER TABLE workflow_runs RENAME TO hidden');
    await database.manager.save(Expense, { id, status: 'approved' });
    expect(await database.manager.findOneByOrFail(Expense, { id })).toMatchObject({ status: 'approved' });
    await expect(tester.drain()).rejects.toThrow();
    await database.query('ALTER TABLE hidden RENAME TO workflow_runs');
  });
});

describe('at boot', () => {
  const refused = async (entities: Function[], workflow: WorkflowModuleOptions = {}): Promise<string> => {
    const error = await app([], { entities, workflow }).then(
      () => undefined,
      ({ message }: Error) => message,
    );
    return error ?? 'booted';
  };

  it('OWNER-3: a property that the entity lacks, a relation, a key of two columns are refused, all at once', async () => {
    @Entity('w1')
    @WorkflowSubject({ type: 'w1', owner: 'team' as never, fields: ['id', 'amont' as never] })
    class Wrong {
      @PrimaryColumn('text') id!: string;
      @Column('int') amount!: number;
    }
    @Entity('w2')
    @WorkflowSubject({ type: 'w2' })
    class Pair {
      @PrimaryColumn('text') one!: string;
      @PrimaryColumn('text') two!: string;
    }
    const message = await refused([Wrong, Pair]);
    expect(message).toContain('@WorkflowSubject of Wrong: owner "team" is no column of Wrong; there are id, amount');
    expect(message).toContain('field "amont" is no column of Wrong');
    expect(message).toContain(
      '@WorkflowSubject of Pair: its primary key is no single column: give the type a resolver',
    );
  });

  it('OWNER-3: a type that two claim is refused, be it two entities or an entity and a resolver', async () => {
    @Entity('e2')
    @WorkflowSubject({ type: 'expense' })
    class Second {
      @PrimaryColumn('text') id!: string;
    }
    expect(await refused([Expense, Second])).toContain('claims the type "expense", which Expense claims too');
    const resolvers = { expense: { load: () => null } };
    expect(await refused([Expense], { subjects: { resolvers } })).toContain(
      'subjects.resolvers.expense: stands beside @WorkflowSubject of Expense',
    );
  });

  it('OWNER-3: a resolver that is no provider, or has no load, is refused', async () => {
    class Nobody {
      load() {
        return null;
      }
    }
    expect(await refused([], { subjects: { resolvers: { thing: Nobody } } })).toContain(
      'subjects.resolvers.thing: Nobody is no provider of this app',
    );
    expect(await refused([], { subjects: { resolvers: { thing: {} as never } } })).toContain(
      'give it the class of a provider, or an object with load()',
    );
  });

  it('OWNER-3: an entity that extends a marked one is found as that one, and no second claim', async () => {
    @Entity('expenses')
    class Travel extends Expense {
      @Column('text', { default: '' }) destination!: string;
    }
    expect(await refused([Expense, Travel])).toBe('booted');
  });
});
