import { TypeOrmModule } from '@nestjs/typeorm';
import {
  DefinitionsService,
  ShuttingDownError,
  Stage,
  Workflow,
  WorkflowService,
  WorkflowSubject,
  type Flow,
  type StageContext,
} from 'nestjs-workflow-engine';
import { WorkflowTester, type WorkflowTesterOptions } from 'nestjs-workflow-engine/testing';
import { Column, DataSource, DeleteDateColumn, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { z } from 'zod';
import { WORKFLOW_RUNTIME, type WorkflowRuntime } from '../../lib/composition/workflow-runtime.js';
import { entityKey, triggersOf } from '../../lib/engine/graph/index.js';
import type { Engine } from '../../lib/composition/engine.js';
import { newId } from '../../lib/testing/conformance/builders.js';
import { testServerUrl } from '../support/database.js';
import { signal } from '../unit/runtime/support/signals.js';

const input = z.looseObject({});
const schemas = { input, output: z.unknown() };

/** Tells of an event, if its input says so; or changes an order. */
@Stage({ id: 'tell', ...schemas })
class Tell {
  constructor(private readonly workflows: WorkflowService) {}

  async execute({ input: { tells, payload = {} }, step }: StageContext<typeof schemas>) {
    if (typeof tells === 'string') await this.workflows.emit({ key: tells, payload });
    const again = payload as { child?: string };
    if (again.child !== undefined) await step.runWorkflow('child', again.child, { tells: 'b' }, { wait: true });
    return null;
  }
}

function tellerOf(id: string, settings: object = {}) {
  @Workflow({ id, version: 1, input, ...settings })
  class Teller {
    define(flow: Flow<typeof input>) {
      return flow.pipe(Tell);
    }
  }
  return Teller;
}

/** Takes no field but this. */
const few = z.strictObject({ n: z.number().optional() });

@Workflow({ id: 'strict', version: 1, input: few })
class Strict {
  define(flow: Flow<typeof few>) {
    return flow.pipe(Tell);
  }
}

const HOPS = Array.from({ length: 8 }, (_, n) => tellerOf(`hop-${n}`));
const TELLERS = [
  tellerOf('a'),
  tellerOf('b'),
  tellerOf('c'),
  tellerOf('behalf', { actor: 'on_behalf_of' }),
  tellerOf('rare', { limits: { startsPerMinute: 1 } }),
  ...HOPS,
  Strict,
];

const HOW: [string, WorkflowTesterOptions][] = [
  ['in memory', { store: 'memory', workflow: {} }],
  ['on PostgreSQL', { server: testServerUrl(), workflow: {} }],
];

class Triggered {
  constructor(
    readonly tester: WorkflowTester,
    readonly engine: Engine,
  ) {}

  static async open(options: WorkflowTesterOptions): Promise<Triggered> {
    const tester = await WorkflowTester.create({ ...options, providers: [Tell, ...TELLERS] });
    return new Triggered(tester, await tester.app.get<WorkflowRuntime>(WORKFLOW_RUNTIME, { strict: false }).ready());
  }

  get workflows(): WorkflowService {
    return this.tester.app.get(WorkflowService);
  }

  async listen(definitionId: string, trigger: object, ownerId: string | null = null): Promise<void> {
    const full = { id: 'heard', type: 'event', on: 'order', ...trigger } as never;
    const triggers = triggersOf({ triggers: [full] }, newId);
    await this.engine.store.putTriggers({ ownerId, definitionId, definitionVersion: 1, triggers });
  }

  async runs() {
    const operator = this.workflows.asOperator();
    const { runs } = await operator.list({ limit: 100 });
    return Promise.all([...runs].reverse().map((run) => operator.get(run)));
  }

  async started(): Promise<string[]> {
    return (await this.runs()).map((run) => `${run.definition} ${JSON.stringify(run.input)}`);
  }

  async outcomes(): Promise<Record<string, unknown>> {
    const rows = await this.engine.store.listTriggers({ limit: 100 }, { all: true });
    return Object.fromEntries(
      rows.map((row) => [row.definitionId, [row.lastOutcome, row.started, row.passedOver > 0]]),
    );
  }
}

describe.each(HOW)('triggers of events, %s', (_case, options) => {
  let on: Triggered;
  beforeEach(async () => {
    on = await Triggered.open(options);
  });
  afterEach(() => on.tester.close());

  const emit = (key: string, payload: unknown, more: object = {}) => on.workflows.emit({ key, payload, ...more });

  it('TRIG-3: an event starts a run of each trigger that it is for, with what it maps', async () => {
    await on.listen('a', { where: 'event.amount > 10' });
    await on.listen('b', { input: { sum: 'event.amount', at: 'now' }, subject: { type: 'order', id: 'event.id' } });
    await on.listen('c', { on: 'other' });
    await emit('order', { id: '7', amount: 5 }, { subject: { type: 'x', id: '1' } });
    await emit('order', { id: '8', amount: 50 }, { subject: { type: 'x', id: '1' } });
    await on.tester.drain();
    const runs = await on.runs();
    expect(runs.map((run) => [run.definition, run.subject?.id, (run.input as { sum?: number }).sum]).sort()).toEqual([
      ['a', '1', undefined],
      ['b', '7', 5],
      ['b', '8', 50],
    ]);
    expect(runs.find((run) => run.definition === 'a')!.input).toEqual({ id: '8', amount: 50 });
    expect(await on.outcomes()).toEqual({ a: ['started', 1, false], b: ['started', 2, false], c: [null, 0, false] });
  });

  it('TRIG-3: an event starts a run once, whoever matches it and however often', async () => {
    await on.listen('a', {});
    const event = { id: newId(), ownerId: null, key: 'order', subject: null, payload: '{"n":1}' };
    // Stored by somebody who died before he matched it.
    await on.engine.store.storeEvent({ ...event, messageDigest: null });
    await on.tester.drain();
    for (let n = 0; n < 3; n++) await on.engine.runtime.matcher.matchEvent(event);
    expect(await on.started()).toEqual(['a {"n":1}']);
    expect(await on.outcomes()).toEqual({ a: ['started', 1, false] });
  });

  it('TRIG-3: why it started none is kept whatever it quotes, and the triggers after it start theirs', async () => {
    await on.listen('strict', {});
    await on.listen('b', {});
    await emit('order', { '\0': 1 });
    await on.tester.drain();
    expect(await on.started()).toEqual(['b {"\\u0000":1}']);
    expect(await on.outcomes()).toEqual({ strict: ['failed', 0, true], b: ['started', 1, false] });
    const [, strict] = await on.engine.store.listTriggers({ limit: 100 }, { all: true });
    expect(strict!.lastError).toContain('\ufffd');
  });

  it('TRIG-3: a subject that none can be is told, and is no run', async () => {
    await on.listen('a', { subject: { type: 'order', id: 'event.id' } });
    for (const id of ['', ' ', 'a\0b']) await emit('order', { id });
    await on.tester.drain();
    expect(await on.started()).toEqual([]);
    expect(await on.outcomes()).toEqual({ a: ['failed', 0, true] });
  });

  it('LIMIT-3: what is above the rate of starts counts as an event that started none', async () => {
    await on.listen('rare', {});
    const { store } = on.engine;
    // Both within one minute, one after the other: which is noted last must not be a race.
    store.clockOffsetMs += 60_000 - ((await on.tester.now()).getTime() % 60_000);
    for (const n of [1, 2]) {
      await emit('order', { n });
      await on.tester.drain();
    }
    expect(await on.outcomes()).toEqual({ rare: ['refused', 1, true] });
  });

  it.each([
    ['', {}],
    [', under a key of the graph’s own too', { key: '"order " + string(event.n)' }],
  ])('LIMIT-3: what was refused to an event is over, whoever matches it again and when%s', async (_how, trigger) => {
    await on.listen('rare', trigger);
    // Keeps the events unmatched.
    await on.listen('unknown', {});
    const { store, runtime } = on.engine;
    store.clockOffsetMs += 60_000 - ((await on.tester.now()).getTime() % 60_000);
    for (const n of [1, 2]) {
      await emit('order', { n });
      await on.tester.drain();
    }
    for (const minutes of [0, 1, 2]) {
      store.clockOffsetMs += minutes * 60_000;
      await runtime.matcher.sweep(0);
    }
    expect((await store.unmatchedEvents(0, null, 10)).events).toHaveLength(2);
    expect((await on.runs()).map(({ failure, input }) => [failure?.code, input])).toEqual([
      [undefined, { n: 1 }],
      ['START_RATE_EXCEEDED', { n: 2 }],
    ]);
    const rows = await store.listTriggers({ definitionId: 'rare', limit: 1 }, { all: true });
    expect(rows).toMatchObject([{ lastOutcome: 'refused', started: 1, passedOver: 1 }]);
    // Another event, of the same key where there is one, finds room.
    await emit('order', { n: 2 });
    await on.tester.drain();
    expect((await on.runs()).map(({ failure }) => failure?.code)).toEqual([
      undefined,
      'START_RATE_EXCEEDED',
      undefined,
    ]);
  });

  it('LIMIT-3: of two who match an event at once both find the room that there was for it, and one run is made', async () => {
    await on.listen('rare', {});
    const { store, runtime } = on.engine;
    store.clockOffsetMs += 60_000 - ((await on.tester.now()).getTime() % 60_000);
    const event = { id: newId(), ownerId: null, key: 'order', subject: null, payload: '{"n":1}' };
    await store.storeEvent({ ...event, messageDigest: null });
    const counted = signal();
    let counts = 0;
    const countStarts = store.countStarts.bind(store);
    const counting = jest.spyOn(store, 'countStarts').mockImplementation(async (...given) => {
      const answer = await countStarts(...given);
      if (++counts === 2) counted.fire();
      return answer;
    });
    const createRuns = store.createRuns.bind(store);
    const creating = jest.spyOn(store, 'createRuns').mockImplementation(async (...given) => {
      await counted;
      return createRuns(...given);
    });
    await Promise.all([1, 2].map(() => runtime.matcher.matchEvent(event)));
    counting.mockRestore();
    creating.mockRestore();
    await runtime.matcher.matchEvent(event);
    expect((await on.runs()).map(({ failure, input }) => [failure?.code, input])).toEqual([[undefined, { n: 1 }]]);
    expect(await store.listTriggers({ limit: 1 }, { all: true })).toMatchObject([{ started: 1, passedOver: 0 }]);
  });

  it('TRIG-4: an event starts runs of its owner’s triggers, and of shared ones for its owner', async () => {
    await on.listen('a', {}, 'acme');
    await on.listen('b', {});
    await emit('order', {}, { owner: 'globex' });
    await emit('order', {}, { owner: 'acme' });
    await emit('order', {});
    await on.tester.drain();
    expect((await on.runs()).map((run) => [run.definition, run.owner])).toEqual(
      expect.arrayContaining([
        ['b', 'globex'],
        ['a', 'acme'],
        ['b', 'acme'],
        ['b', null],
      ]),
    );
    expect(await on.runs()).toHaveLength(4);
  });

  it('FAULT E14: a definition does not start itself again, nor by way of another, and that is told', async () => {
    await on.listen('a', { on: 'a', input: { tells: '"a"' } });
    await emit('a', {});
    await on.tester.drain();
    expect(await on.started()).toEqual(['a {"tells":"a"}']);
    expect(await on.outcomes()).toEqual({ a: ['chain', 1, true] });

    await on.listen('a', { on: 'a', input: { tells: '"b"' } });
    await on.listen('b', { on: 'b', input: { tells: '"a"' } });
    await emit('a', {});
    await on.tester.drain();
    expect(await on.started()).toEqual(['a {"tells":"a"}', 'a {"tells":"b"}', 'b {"tells":"a"}']);
    expect(await on.outcomes()).toEqual({ a: ['chain', 2, true], b: ['started', 1, false] });
  });

  it('FAULT E14: nor by way of a child', async () => {
    await on.listen('a', { on: 'a', input: { payload: { child: '"c"' } } });
    await on.listen('b', { on: 'b', input: { tells: '"a"' } });
    await emit('a', {});
    await on.tester.drain();
    expect((await on.runs()).map((run) => run.definition)).toEqual(['a', 'c', 'b']);
    expect(await on.outcomes()).toEqual({ a: ['chain', 1, true], b: ['started', 1, false] });
  });

  it('FAULT E14: five triggers may lead to a run, not six', async () => {
    for (let n = 0; n < HOPS.length; n++)
      await on.listen(`hop-${n}`, { on: `to-${n}`, input: { tells: `"to-${n + 1}"` } });
    await emit('to-0', {});
    await on.tester.drain();
    expect((await on.runs()).map((run) => run.definition)).toEqual(HOPS.slice(0, 5).map((_, n) => `hop-${n}`));
    expect((await on.outcomes())['hop-5']).toEqual(['chain', 0, true]);
  });

  it('TRIG-3: what has the same key is started once', async () => {
    await on.listen('a', { key: '"order " + event.id' });
    for (const n of [1, 2]) await emit('order', { id: '7', n });
    await emit('order', { id: '8' });
    await on.tester.drain();
    expect((await on.started()).map((text) => text.includes('"7"'))).toEqual([true, false]);
  });

  it('AUTH-3: a run on behalf of somebody is on behalf of whoever emitted, and of nobody is none', async () => {
    await on.listen('behalf', {});
    await emit('order', {});
    await on.tester.drain();
    expect(await on.outcomes()).toEqual({ behalf: ['failed', 0, true] });
    await on.workflows.start('a', { tells: 'order' }, { actor: { id: 'ada' } });
    await on.tester.drain();
    expect((await on.runs()).map((run) => [run.definition, run.actor])).toEqual([
      ['a', { id: 'ada' }],
      ['behalf', { id: 'ada' }],
    ]);
  });

  it('TRIG-3: what cannot be mapped starts nothing and is noted; a where that cannot be asked does not hold', async () => {
    await on.listen('a', { input: { sum: 'event.missing' } });
    await on.listen('b', { where: 'event.missing > 1' });
    await emit('order', {});
    await on.tester.drain();
    expect(await on.outcomes()).toEqual({ a: ['failed', 0, true], b: [null, 0, false] });
    expect(await on.started()).toEqual([]);
  });

  it('TRIG-3: a definition that this build does not know is waited for, and given up in the end', async () => {
    await on.listen('unknown', {});
    await emit('order', {});
    await on.engine.runtime.matcher.sweep(0);
    expect((await on.engine.store.unmatchedEvents(0, null, 10)).events).toHaveLength(1);
    on.engine.store.clockOffsetMs += 601_000;
    await on.tester.drain();
    expect((await on.engine.store.unmatchedEvents(0, null, 10)).events).toEqual([]);
    expect(await on.outcomes()).toEqual({ unknown: ['failed', 0, true] });
  });

  it('TRIG-3: what a process that shuts down cannot start any more is left to another one, however old', async () => {
    await on.listen('a', {});
    const event = { id: newId(), ownerId: null, key: 'order', subject: null, payload: '{}' };
    await on.engine.store.storeEvent({ ...event, messageDigest: null });
    on.engine.store.clockOffsetMs += 601_000;
    const runtime = on.tester.app.get<WorkflowRuntime>(WORKFLOW_RUNTIME, { strict: false });
    jest.spyOn(runtime, 'ready').mockRejectedValue(new ShuttingDownError({ what: 'It' }));
    await on.engine.runtime.matcher.sweep(0);
    jest.restoreAllMocks();
    expect(await on.outcomes()).toEqual({ a: [null, 0, false] });
    await on.engine.runtime.matcher.sweep(0);
    expect(await on.started()).toEqual(['a {}']);
  });

  it('TRIG-3: what changes of entities are told by is nobody’s to send', async () => {
    await expect(emit('@entity/Order/insert', {})).rejects.toThrow('changes of entities');
  });
});

@Entity()
@WorkflowSubject({ type: 'ticket', owner: 'team' })
class Ticket {
  @PrimaryGeneratedColumn() id!: number;
  @Column('text', { nullable: true }) team!: string | null;
  @Column('text') status!: string;
  @Column('text', { select: false, default: 'x' }) secret!: string;
  @DeleteDateColumn({ select: false }) gone!: Date | null;
}

describe('triggers of changes of entities', () => {
  let on: Triggered;
  let host: DataSource;
  beforeEach(async () => {
    on = await Triggered.open({
      server: testServerUrl(),
      imports: ({ url }) => [TypeOrmModule.forRoot({ type: 'postgres', url, entities: [Ticket], synchronize: true })],
      workflow: { triggers: { entities: [Ticket] } },
    });
    host = on.tester.app.get(DataSource);
  });
  afterEach(() => on.tester.close());

  const ticket = (given: Partial<Ticket> = {}) =>
    host.getRepository(Ticket).save({ team: null, status: 'open', ...given });
  const change = (change: string, more: object = {}) => ({ on: { entity: 'Ticket', change }, ...more });

  it('GRAPH-2, TRIG-3: a change of an entity that triggers.entities does not name is refused, since no run would ever start', async () => {
    const definitions = on.tester.app.get(DefinitionsService);
    const graph = {
      id: 'closed-ticket',
      triggers: [{ id: 'closed', type: 'event', on: { entity: 'Tickets', change: 'update' } }],
      nodes: [{ id: 'end', type: 'end' }],
      edges: [],
    };
    const { problems } = await definitions.validate(graph);
    expect(problems).toMatchObject([
      {
        code: 'UNKNOWN_ENTITY',
        path: '$.triggers[0].on.entity',
        message: expect.stringMatching(/"Tickets".*"Ticket".*triggers\.entities/s),
      },
    ]);
    await expect(definitions.publish(graph)).rejects.toMatchObject({ code: 'INVALID_GRAPH' });
  });

  it('TRIG-3: an insert, an update and a removal start runs, told what was and what is', async () => {
    await on.listen('a', change('insert'));
    await on.listen('b', change('update', { where: 'event.after.status == "closed" && "status" in event.changed' }));
    await on.listen('c', change('remove'));
    const one = await ticket({ team: 'acme' });
    await ticket({ ...one, status: 'waiting' });
    await ticket({ ...one, status: 'closed' });
    await host.getRepository(Ticket).remove({ ...one, status: 'closed' } as Ticket);
    await on.tester.drain();
    const runs = await on.runs();
    const id = String(one.id);
    const values = (status: string) => ({ id: one.id, team: 'acme', status });
    expect(runs.map((run) => [run.definition, run.input, run.owner, run.subject])).toEqual([
      [
        'a',
        { entity: 'Ticket', change: 'insert', id, changed: [], before: null, after: values('open') },
        'acme',
        { type: 'ticket', id },
      ],
      [
        'b',
        {
          entity: 'Ticket',
          change: 'update',
          id,
          changed: ['status'],
          before: values('waiting'),
          after: values('closed'),
        },
        'acme',
        { type: 'ticket', id },
      ],
      ['c', expect.objectContaining({ change: 'remove', id, after: null }), 'acme', { type: 'ticket', id }],
    ]);
  });

  it('TRIG-3: what is soft-removed is gone, what is recovered is there anew', async () => {
    await on.listen('a', change('insert'));
    await on.listen('c', change('remove'));
    const one = await ticket();
    await host.getRepository(Ticket).softRemove(one);
    await host.getRepository(Ticket).recover(one);
    await on.tester.drain();
    const runs = await on.runs();
    expect(runs.map(({ definition, input }) => [definition, (input as { change: string }).change])).toEqual([
      ['a', 'insert'],
      ['c', 'remove'],
      ['a', 'insert'],
    ]);
  });

  it('TRIG-3: what is rolled back starts nothing, what commits is kept with it', async () => {
    await on.listen('a', change('insert'));
    await host
      .transaction(async (manager) => {
        await manager.save(Ticket, { team: null, status: 'open' });
        throw new Error('No.');
      })
      .catch(() => undefined);
    await on.tester.drain();
    expect(await on.started()).toEqual([]);
    await host.transaction(async (manager) => {
      await manager.save(Ticket, [
        { team: null, status: 'open' },
        { team: null, status: 'late' },
      ]);
      expect((await on.engine.store.unmatchedEvents(0, null, 10)).events).toEqual([]);
    });
    expect((await on.engine.store.unmatchedEvents(0, null, 10)).events).toHaveLength(2);
    await on.tester.drain();
    expect(await on.runs()).toHaveLength(2);
  });

  it('TRIG-3: what is written while the engine stops is kept for triggers, as long as bodies have their grace', async () => {
    const stop = on.engine.stop.bind(on.engine);
    jest.spyOn(on.engine, 'stop').mockImplementation(async () => {
      await ticket();
      await stop();
    });
    await on.tester.app.get<WorkflowRuntime>(WORKFLOW_RUNTIME, { strict: false }).stop();
    await ticket();
    expect(await host.query('SELECT key, matched FROM workflow_events')).toEqual([
      { key: entityKey('Ticket', 'insert'), matched: false },
    ]);
  });

  it('FAULT E14: a run that changes what it was started by does not start itself again', async () => {
    await on.listen('a', change('insert'));
    const tell = on.tester.app.get(Tell);
    jest.spyOn(tell, 'execute').mockImplementation(async () => {
      await ticket();
      return null;
    });
    await ticket();
    await on.tester.drain();
    expect(await on.runs()).toHaveLength(1);
    expect(await on.outcomes()).toEqual({ a: ['chain', 1, true] });
  });
});
