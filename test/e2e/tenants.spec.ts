import type { INestApplicationContext } from '@nestjs/common';
import { ClsModule, ClsServiceManager, type ClsService } from 'nestjs-cls';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  AnnotationsService,
  ApprovalsService,
  WorkflowContext,
  WorkflowModule,
  WorkflowService,
  type WorkflowEvent,
} from 'nestjs-workflow-engine';
import type { Pool } from 'pg';
import { WORKFLOW_RUNTIME, type WorkflowRuntime } from '../../lib/composition/workflow-runtime.js';
import { newRound } from '../../lib/testing/conformance/approval-builders.js';
import { freshDatabase } from '../support/database.js';
import { securityOf } from '../integration/row-level-security/guarded-app.js';
import { guardedDatabase } from '../integration/row-level-security/guarded-database.js';
import { startApp } from './app.js';
import { told } from './faults/scenes.js';
import { Bill, Billing, Onboard, Onboarding, World } from './waits.js';

/** A run that nobody has: what a call says of it is what it has to say of another owner's run. */
const NOBODYS = '018f0000-0000-7000-8000-000000000000';
const EVENT = 'profile:Ada';

/** What a tenant may try with the id of a run, by method. */
type Tries = Readonly<Record<string, (id: string) => Promise<unknown>>>;

interface Place {
  /** What the app logs in with. */
  readonly url: string;
  readonly rowLevelSecurity: boolean;
  /** Of a superuser, who sees everything. */
  readonly pool: Pool;
  drop(): Promise<void>;
}

async function plain(): Promise<Place> {
  const database = await freshDatabase();
  return { ...database, rowLevelSecurity: false, pool: database.openPool({ max: 1 }) };
}

async function guarded(): Promise<Place> {
  const database = await guardedDatabase('switching');
  const rowLevelSecurity = securityOf(database, 'switching') === true;
  return {
    ...{ url: database.urlOf(database.app), rowLevelSecurity, pool: database.openPool({ max: 1 }) },
    drop: () => database.dropAll(),
  };
}

describe.each([
  ['held apart by the engine', plain],
  ['held apart by the database too', guarded],
])('two owners on one database, %s', (_case, open) => {
  let place: Place;
  let pool: Pool;
  let app: INestApplicationContext;
  let workflows: WorkflowService;
  let annotations: AnnotationsService;
  let cls: ClsService;
  let approvals: ApprovalsService;
  let asleep: string;
  let round: string;
  let ended: string;

  const as = <T>(team: string, fn: () => Promise<T>): Promise<T> =>
    cls.run(() => {
      cls.set('team', team);
      return fn();
    });

  beforeAll(async () => {
    place = await open();
    ({ pool } = place);
    const { url, rowLevelSecurity } = place;
    const resolve = (context: { get(key: string): unknown }) => context.get('team') as string | undefined;
    app = await startApp({
      modules: [
        TypeOrmModule.forRoot({ type: 'postgres', url, retryAttempts: 0 }),
        ClsModule.forRoot({ global: true }),
        WorkflowModule.forRoot({ owners: { resolve, rowLevelSecurity } }),
      ],
      providers: [World, Onboard, Onboarding, Bill, Billing],
    });
    workflows = app.get(WorkflowService);
    annotations = app.get(AnnotationsService);
    approvals = app.get(ApprovalsService);
    cls = ClsServiceManager.getClsService();
    const sleeps = told(app, 'stage:suspended');
    asleep = (await as('a', () => workflows.start(Onboarding, { name: 'Ada' }, { idempotencyKey: 'ada' }))).run.id;
    await sleeps;
    round = await openRound(asleep);
    ended = (await as('a', () => workflows.start(Billing, { amount: 1 }))).run.id;
    const over = told(app, 'run:cancelled', ended);
    await as('a', () => workflows.cancel(ended));
    await over;
  });
  afterAll(async () => {
    await app.close();
    await pool.end();
    await place.drop();
  });

  /** A round of approval at the stage that a run is at. */
  async function openRound(runId: string): Promise<string> {
    const { store } = await app.get<WorkflowRuntime>(WORKFLOW_RUNTIME, { strict: false }).ready();
    const { stageRuns } = (await store.history(runId, { all: true }))!;
    const at = { runId, stageRunId: stageRuns[0]!.id };
    const opened = await store.openRound(at, newRound(at));
    if (opened === 'ended') throw new Error('The stage has ended.');
    return opened.id;
  }

  /** Every method of `ApprovalsService` that takes a round. */
  const approvalTries: Tries = {
    get: (id) => approvals.get(id),
    decide: (id) => approvals.decide(id, 'approved'),
    delegate: (id) => approvals.delegate(id, 'u9'),
    revoke: (id) => approvals.revoke(id),
    withdraw: (id) => approvals.withdraw(id),
    close: (id) => approvals.close(id, 'approved'),
    remind: (id) => approvals.remind(id),
  };

  it.each(Object.keys(approvalTries))(
    'OWNER-5: approvals: %s answers of another owner’s round as of one that nobody has, and changes nothing',
    async (method) => {
      const before = await rowsOf('a');
      const asked = (id: string) =>
        as('b', () => {
          app.get(WorkflowContext).setActor('u1');
          return answerOf(approvalTries[method]!(id), id);
        });
      expect(await asked(round)).toBe(await asked(NOBODYS));
      expect(await asked(round)).toContain('APPROVAL_NOT_FOUND');
      expect(await rowsOf('a')).toEqual(before);
    },
  );

  it('OWNER-5: each public method of ApprovalsService is tried here, and an inbox is its owner’s', async () => {
    const methods = Object.getOwnPropertyNames(ApprovalsService.prototype);
    const others = ['constructor', 'inbox', 'asOperator'];
    expect(methods.filter((name) => !(name in approvalTries) && !others.includes(name))).toEqual([]);
    expect(await as('b', () => approvals.inbox({ actor: 'u1' }))).toEqual({ asks: [], after: null });
    expect((await as('a', () => approvals.inbox({ actor: 'u1' }))).asks).toMatchObject([{ round }]);
  });

  /** Every method that takes a run. */
  const tries: Tries = {
    get: (id) => workflows.get(id),
    history: (id) => workflows.history(id),
    result: (id) => workflows.result(id, { timeout: 1 }),
    cancel: (id) => workflows.cancel(id, 'mine now'),
    terminate: (id) => workflows.terminate(id, 'mine now'),
    retry: (id) => workflows.retry(id),
    rerunFrom: (id) => workflows.rerunFrom(id, 'onboard', { idempotencyKey: 'again' }),
    migrateRun: (id) => workflows.migrateRun(id, 1),
    signal: (id) => workflows.signal(id, 'sign-off', 'me', { messageId: 'm' }),
  };
  /** Every method that takes none; each has a test of its own below, `dryRun` in a file of its own. */
  const others = [
    'start',
    'startMany',
    'startAndWait',
    'dryRun',
    'list',
    'count',
    'emit',
    'touch',
    'events',
    'asOperator',
  ];

  it('OWNER-5: each public method of the service is tried here', () => {
    const methods = new Set<string>();
    for (
      let at: object = WorkflowService.prototype;
      at !== Object.prototype;
      at = Object.getPrototypeOf(at) as object
    ) {
      const declared = Object.entries(Object.getOwnPropertyDescriptors(at));
      for (const [name, { value }] of declared) if (typeof value === 'function') methods.add(name);
    }
    for (const inner of ['constructor', 'scopeOf']) methods.delete(inner);
    expect([...methods].filter((name) => !(name in tries) && !others.includes(name))).toEqual([]);
  });

  /** All that one owner has, table by table. */
  async function rowsOf(owner: string): Promise<Record<string, unknown[]>> {
    const { rows: tables } = await pool.query<{ table: string }>(
      `SELECT table_name AS table FROM information_schema.columns WHERE column_name = 'owner_id' ORDER BY 1`,
    );
    const found: Record<string, unknown[]> = {};
    for (const { table } of tables) {
      const { rows } = await pool.query(`SELECT to_jsonb(t) AS row FROM ${table} t WHERE owner_id = $1 ORDER BY 1`, [
        owner,
      ]);
      if (rows.length > 0) found[table] = rows;
    }
    return found;
  }

  async function answerOf(call: Promise<unknown>, id: string): Promise<string> {
    const said = await call.then(
      (value) => ({ value }),
      ({ code, message, params }: { code?: string; message: string; params?: unknown }) => ({ code, message, params }),
    );
    return JSON.stringify(said).replaceAll(id, '<id>');
  }

  it.each(Object.keys(tries))(
    'OWNER-5: %s answers of another owner’s run as of one that nobody has, and changes nothing',
    async (method) => {
      const before = await rowsOf('a');
      for (const id of [asleep, ended]) {
        const answer = await as('b', () => answerOf(tries[method]!(id), id));
        expect(answer).toBe(await as('b', () => answerOf(tries[method]!(NOBODYS), NOBODYS)));
        expect(answer).toContain('RUN_NOT_FOUND');
      }
      expect(await rowsOf('a')).toEqual(before);
    },
  );

  it('FAULT K17: lists and counts hold the runs of their owner, whatever they filter by', async () => {
    const lists = [{}, { definition: 'onboarding' }, { status: 'RUNNING' as const }, { status: 'CANCELLED' as const }];
    for (const filter of lists) {
      expect(await as('b', () => workflows.list(filter))).toMatchObject({ runs: [], cursor: null });
      expect((await as('a', () => workflows.list(filter))).runs.length).toBeGreaterThan(0);
    }
    expect(new Set(Object.values(await as('b', () => workflows.count())))).toEqual(new Set([0]));
    expect(await as('b', () => annotations.list(asleep))).toEqual({ annotations: [], cursor: null });
  });

  it('FAULT A15: the same start key, event and message of two owners have nothing to do with each other', async () => {
    const before = await rowsOf('a');
    const own = await as('b', () =>
      workflows.start(Onboarding, { name: 'Ada' }, { idempotencyKey: 'ada', delay: '1 day' }),
    );
    expect(own).toMatchObject({ created: true });
    expect(own.run.id).not.toBe(asleep);
    const event = { key: EVENT, payload: { complete: true }, messageId: 'once' };
    expect(await as('b', () => workflows.emit(event))).toMatchObject({ duplicate: false });
    expect(await as('b', () => workflows.emit(event))).toMatchObject({ duplicate: true });
    await expect(as('b', () => workflows.signal(asleep, 'sign-off', 'me'))).rejects.toMatchObject({
      code: 'RUN_NOT_FOUND',
    });
    expect(await rowsOf('a')).toEqual(before);
    // The owner's own message of the same id counts, and is the one that its run gets.
    const goesOn = told(app, 'stage:suspended', asleep);
    expect(await as('a', () => workflows.emit(event))).toMatchObject({ duplicate: false });
    await goesOn;
    const { stages } = await as('a', () => workflows.history(asleep));
    expect(stages[0]!.steps.find(({ name }) => name === 'profile')).toMatchObject({ status: 'completed' });
  });

  it('OWNER-3: a touch about another owner’s subject moves none of its runs', async () => {
    const before = await rowsOf('a');
    const subject = { type: 'order', id: '7' };
    const { run } = await as('a', () => workflows.start(Onboarding, { name: 'Bo' }, { subject, delay: '1 day' }));
    const touched = await rowsOf('a');
    await as('b', () => workflows.touch(subject));
    expect(await as('b', () => workflows.list({ subject }))).toMatchObject({ runs: [] });
    expect(await rowsOf('a')).toEqual(touched);
    const over = told(app, 'run:cancelled', run.id);
    await as('a', () => workflows.cancel(run));
    await over;
    expect(Object.keys(before).length).toBeGreaterThan(0);
  });

  it('OWNER-5: a stream of events holds those of its owner; an operator’s holds all', async () => {
    const heard: Record<string, string[]> = { a: [], b: [], all: [] };
    const note = (who: string) => (event: WorkflowEvent) => heard[who]!.push(event.run.id);
    const subscriptions = [
      await as('a', () => Promise.resolve(workflows.events().subscribe(note('a')))),
      await as('b', () => Promise.resolve(workflows.events().subscribe(note('b')))),
      workflows.asOperator().events().subscribe(note('all')),
    ];
    const start = async (team: string): Promise<string> => {
      const { run } = await as(team, () => workflows.start(Billing, { amount: 1 }));
      const over = told(app, 'run:cancelled', run.id);
      await as(team, () => workflows.cancel(run));
      await over;
      return run.id;
    };
    const [ofA, ofB] = [await start('a'), await start('b')];
    for (const subscription of subscriptions) subscription.unsubscribe();
    expect(new Set(heard.a)).toEqual(new Set([ofA]));
    expect(new Set(heard.b)).toEqual(new Set([ofB]));
    expect(new Set(heard.all)).toEqual(new Set([ofA, ofB]));
  });

  it('FAULT A18: without an owner there is no stream either', async () => {
    const failed = await new Promise((resolve) => workflows.events().subscribe({ error: resolve }));
    expect(failed).toMatchObject({ code: 'UNDEFINED_ID', params: { what: 'owner' } });
  });
});
