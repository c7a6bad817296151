import { Injectable } from '@nestjs/common';
import type { TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  DefinitionsService,
  deny,
  WorkflowModule,
  WorkflowPolicy,
  WorkflowService,
  WorkflowSubject,
  type LifecycleAdapter,
  type StageAuthorization,
  type TransitionAnswer,
  type TransitionRequest,
} from 'nestjs-workflow-engine';
import { Column, DataSource, Entity, PrimaryGeneratedColumn, type EntityManager } from 'typeorm';
import { freshDatabase } from '../support/database.js';
import { startApp } from './app.js';

@Entity()
class Move {
  @PrimaryGeneratedColumn() id!: number;
  @Column('text') subjectId!: string;
  @Column('text') from!: string;
  @Column('text') to!: string;
  @Column('jsonb', { nullable: true }) actor!: unknown;
  @Column('text', { nullable: true }) reason!: string | null;
  @Column('uuid') runId!: string;
}

@Entity()
@WorkflowSubject({
  type: 'expense',
  owner: 'teamId',
  fields: ['amount', 'status'],
  writable: ['priority', 'details', 'dueAt'],
  lifecycles: {
    review: { transitions: { null: ['asked'] }, history: Move },
    status: { transitions: { open: ['approved', 'rejected'], approved: ['paid'] }, history: Move },
  },
})
class Expense {
  @PrimaryGeneratedColumn('uuid') id!: string;
  @Column('text') teamId!: string;
  @Column('int') amount!: number;
  @Column('text', { default: 'open' }) status!: string;
  @Column('text', { default: 'low' }) priority!: string;
  @Column('jsonb', { default: {} }) details!: Record<string, unknown>;
  @Column('timestamptz', { nullable: true }) dueAt!: Date | null;
  @Column('text', { nullable: true }) review!: string | null;
}

@Entity()
class Parcel {
  @PrimaryGeneratedColumn('uuid') id!: string;
  @Column('text', { default: 'packed' }) place!: string;
}

/** Whatever a parcel is asked to do, it answers as it is told to. */
@Injectable()
class Parcels implements LifecycleAdapter {
  readonly asked: TransitionRequest[] = [];
  answers: TransitionAnswer[] = [];

  async transition(request: TransitionRequest, manager: EntityManager): Promise<TransitionAnswer> {
    this.asked.push(request);
    await manager.update(Parcel, { id: request.subject.id }, { place: request.to });
    return this.answers.shift() ?? { result: 'applied', from: 'packed' };
  }
}

@WorkflowPolicy('priority.update', { allowSystem: true })
class PriorityPolicy {
  authorize({ subject }: StageAuthorization) {
    return (subject as Expense).amount < 5_000 || deny('large expenses have one priority');
  }
}

const TEAM = 'team-a';

describe('nodes that change what their run is about', () => {
  let app: TestingModule;
  let workflows: WorkflowService;
  let data: DataSource;

  beforeAll(async () => {
    const database = await freshDatabase();
    app = await startApp({
      database,
      modules: [
        TypeOrmModule.forRoot({
          ...database.dataSourceOptions,
          retryAttempts: 0,
          entities: [Expense, Move, Parcel],
          synchronize: true,
        }),
        WorkflowModule.forRoot({
          owners: { resolve: () => TEAM },
          authorization: { abilities: { set_field: 'priority.update' } },
          subjects: {
            resolvers: { parcel: { load: ({ id }) => data.manager.findOneBy(Parcel, { id }) } },
            lifecycles: { parcel: Parcels },
          },
          retry: { backoff: 0, jitter: 0 },
        }),
      ],
      providers: [Parcels, PriorityPolicy],
    });
    workflows = app.get(WorkflowService);
    data = app.get(DataSource);
    await publish('urgent', [
      { id: 'set', type: 'set_field', config: { field: 'priority', value: 'input.priority' } },
      {
        id: 'note',
        type: 'set_field',
        config: { field: 'details.notes.first', value: { by: '"graph"', of: 'subject.amount' } },
      },
    ]);
    await publish('approve', [
      {
        id: 'move',
        type: 'transition',
        config: { to: 'approved', lifecycle: 'status', reason: '"amount " + string(subject.amount)' },
      },
    ]);
    await publish(
      'pay',
      [{ id: 'move', type: 'transition', config: { to: 'paid', lifecycle: 'status' } }],
      [{ from: 'move', outcome: 'denied', to: 'sorry' }],
    );
    await publish('explain', [
      { id: 'move', type: 'transition', config: { to: 'approved', lifecycle: 'status', reason: 'input.why' } },
    ]);
    await publish('date', [{ id: 'set', type: 'set_field', config: { field: 'dueAt.note', value: '1' } }]);
    await publish('ask', [{ id: 'move', type: 'transition', config: { to: 'asked', lifecycle: 'review' } }]);
    await publish('deliver', [{ id: 'move', type: 'transition', config: { to: 'delivered' } }]);
    await publish('steal', [{ id: 'set', type: 'set_field', config: { field: 'teamId', value: '"team-b"' } }]);
    await publish('pollute', [{ id: 'set', type: 'set_field', config: { field: 'details.list.first', value: '1' } }]);
  });
  afterAll(() => app.close());

  async function publish(
    id: string,
    nodes: (Readonly<Record<string, unknown>> & { readonly id: string })[],
    edges: object[] = [],
  ): Promise<void> {
    const [ids, end] = [nodes.map((node) => node.id), { id: 'end', type: 'end' }];
    const sorry = edges.length > 0 ? [{ id: 'sorry', type: 'end', config: { output: 'output("move")' } }] : [];
    const ways = ids.map((from, at) => ({ from, to: ids[at + 1] ?? 'end' }));
    await app.get(DefinitionsService).publish({ id, nodes: [...nodes, end, ...sorry], edges: [...ways, ...edges] });
  }

  const expenseOf = (given: Partial<Expense> = {}): Promise<Expense> =>
    data.manager.save(Expense, data.manager.create(Expense, { teamId: TEAM, amount: 100, ...given }));

  async function ran(id: string, subject: { id: string }, { type = 'expense', input = {} } = {}) {
    const { run } = await workflows.start(id, input, { subject: { type, id: subject.id } });
    const output = await workflows.result(run).catch(() => undefined);
    const details = await workflows.get(run);
    return { output, code: details.failure?.code, run, details };
  }

  it('GRAPH-4: set_field writes a column, and a path in a JSON column, as the run gets on', async () => {
    const expense = await expenseOf({ details: { kept: true } });
    await ran('urgent', expense, { input: { priority: 'high' } });
    expect(await data.manager.findOneBy(Expense, { id: expense.id })).toMatchObject({
      priority: 'high',
      details: { kept: true, notes: { first: { by: 'graph', of: 100 } } },
    });
  });

  it('AUTH-1: who asks for it is asked about first, by the ability that the module names', async () => {
    const expense = await expenseOf({ amount: 6_000 });
    const { code } = await ran('urgent', expense, { input: { priority: 'high' } });
    expect(code).toBe('AUTHORIZATION_DENIED');
    expect(await data.manager.findOneBy(Expense, { id: expense.id })).toMatchObject({ priority: 'low' });
  });

  it('GRAPH-4: what the app does not let graphs write is not written', async () => {
    const expense = await expenseOf();
    const { code, details } = await ran('steal', expense);
    expect(code).toBe('FIELD_NOT_WRITABLE');
    expect(details.failure?.message).toContain('priority, details, dueAt');
    expect(await data.manager.findOneBy(Expense, { id: expense.id })).toMatchObject({ teamId: TEAM });
    const listed = await expenseOf({ details: { list: [1, 2] } });
    expect((await ran('pollute', listed)).code).toBe('FIELD_NOT_WRITABLE');
    expect(await data.manager.findOneBy(Expense, { id: listed.id })).toMatchObject({ details: { list: [1, 2] } });
  });

  it('GRAPH-5: a transition moves the subject where its lifecycle lets it, with a row of history; again it is there already', async () => {
    const expense = await expenseOf();
    const first = await ran('approve', expense);
    expect(first.code).toBeUndefined();
    const again = await ran('approve', expense);
    expect(again.code).toBeUndefined();
    expect(await data.manager.findOneBy(Expense, { id: expense.id })).toMatchObject({ status: 'approved' });
    expect(await data.manager.findBy(Move, { subjectId: expense.id })).toMatchObject([
      { from: 'open', to: 'approved', reason: 'amount 100', runId: first.run.id, actor: null },
    ]);
    const outputs = await Promise.all(
      [first, again].map(async ({ run }) => (await workflows.history(run)).stages[0]!.output),
    );
    expect(outputs).toEqual([
      { result: 'applied', from: 'open', to: 'approved' },
      { result: 'already-there', from: 'approved', to: 'approved' },
    ]);
  });

  it('GRAPH-5: what may not follow is denied: by an edge where there is one, else the run fails', async () => {
    const expense = await expenseOf();
    const denied = await ran('pay', expense);
    expect(denied.output).toEqual({ to: 'paid', reason: 'from "open" it goes to approved, rejected' });
    const rejected = await expenseOf({ status: 'rejected' });
    const failed = await ran('approve', rejected);
    expect(failed).toMatchObject({ code: 'TRANSITION_DENIED' });
    expect(failed.details.failure?.message).toContain('nothing follows "rejected"');
    expect(await data.manager.findOneBy(Expense, { id: rejected.id })).toMatchObject({ status: 'rejected' });
  });

  it('GRAPH-4: a path into a column that holds no JSON is refused, be it null or not', async () => {
    for (const dueAt of [null, new Date(0)]) {
      const expense = await expenseOf({ dueAt });
      const { code, details } = await ran('date', expense);
      expect(code).toBe('FIELD_NOT_WRITABLE');
      expect(details.failure?.message).toContain('dueAt is no JSON column');
      expect(await data.manager.findOneBy(Expense, { id: expense.id })).toMatchObject({ dueAt });
    }
  });

  it('GRAPH-5: while its column is null a subject is in no state, and nothing follows', async () => {
    const expense = await expenseOf();
    const { code, details } = await ran('ask', expense);
    expect(code).toBe('TRANSITION_DENIED');
    expect(details.failure?.message).toContain('it is in no state, its review is null');
    expect(await data.manager.findBy(Move, { subjectId: expense.id })).toEqual([]);
  });

  it('FAULT A1: a reason that no text column takes is kept as one that it does', async () => {
    const expense = await expenseOf();
    const { code } = await ran('explain', expense, { input: { why: 'a\0b\ud83dc' } });
    expect(code).toBeUndefined();
    expect(await data.manager.findBy(Move, { subjectId: expense.id })).toMatchObject([{ reason: 'a\ufffdb\ufffdc' }]);
  });

  it('GRAPH-5: of two runs that move one subject at once both end, and it was moved once', async () => {
    const expenses = await Promise.all(Array.from({ length: 10 }, () => expenseOf()));
    await Promise.all(expenses.flatMap((expense) => [ran('approve', expense), ran('approve', expense)]));
    for (const { id } of expenses) expect(await data.manager.countBy(Move, { subjectId: id })).toBe(1);
  });

  it("GRAPH-5: the host's own lifecycle is asked with its manager; later means a retry, and what was denied is rolled back", async () => {
    const parcels = app.get(Parcels);
    const parcel = await data.manager.save(Parcel, data.manager.create(Parcel, {}));
    parcels.answers = [
      { result: 'retry-later', reason: 'the van is full' },
      { result: 'denied', reason: 'no such street' },
    ];
    const { code, run, details } = await ran('deliver', parcel, { type: 'parcel' });
    expect(code).toBe('TRANSITION_DENIED');
    expect(details.failure?.message).toContain('no such street');
    expect(parcels.asked).toHaveLength(2);
    expect(parcels.asked[0]).toMatchObject({ to: 'delivered', lifecycle: null, ownerId: TEAM, runId: run.id });
    expect(await data.manager.findOneBy(Parcel, { id: parcel.id })).toMatchObject({ place: 'packed' });
    expect((await ran('deliver', parcel, { type: 'parcel' })).code).toBeUndefined();
    expect(await data.manager.findOneBy(Parcel, { id: parcel.id })).toMatchObject({ place: 'delivered' });
  });
});
