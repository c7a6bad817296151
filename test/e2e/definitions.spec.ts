import { Injectable } from '@nestjs/common';
import type { TestingModule } from '@nestjs/testing';
import { ClsServiceManager } from 'nestjs-cls';
import {
  AuditService,
  DefinitionsService,
  deny,
  InvalidGraphError,
  OnWorkflowEvent,
  WorkflowContext,
  WorkflowPolicy,
  type DefinitionAuthorization,
  type WorkflowEvent,
} from 'nestjs-workflow-engine';
import { WORKFLOW_RUNTIME, type WorkflowRuntime } from '../../lib/composition/workflow-runtime.js';
import { signal, startApp } from './app.js';
import { EXPENSES, expenseGraph } from './expenses.js';

type DefinitionEvent = WorkflowEvent<'definition:published' | 'definition:retired'>;

const asked: DefinitionAuthorization[] = [];
const ADA = { id: 'ada' };
const EVE = { id: 'eve' };

@WorkflowPolicy('graphs.publish')
class PublishPolicy {
  authorize(request: DefinitionAuthorization) {
    asked.push(request);
    return (request.actor as typeof ADA).id === 'ada' || deny('not you');
  }
}

@Injectable()
class Listener {
  readonly heard: DefinitionEvent[] = [];
  readonly owners: unknown[] = [];
  private waiting: { readonly of: string; readonly count: number; readonly resolve: () => void } | undefined;

  constructor(private readonly context: WorkflowContext) {}

  @OnWorkflowEvent(['definition:published', 'definition:retired'])
  hear(event: DefinitionEvent) {
    this.heard.push(event);
    this.owners.push(this.context.currentOwnerId());
    if (this.waiting && this.of(this.waiting.of).length >= this.waiting.count) this.waiting.resolve();
  }

  private of(owner: string): DefinitionEvent[] {
    return this.heard.filter((event) => event.owner === owner);
  }

  /** Resolves once so many of an owner were heard. */
  async hasHeard(owner: string, count: number): Promise<DefinitionEvent[]> {
    const { promise, resolve } = signal();
    this.waiting = { of: owner, count, resolve };
    if (this.of(owner).length < count) await promise;
    return this.of(owner);
  }
}

describe('graphs that are kept', () => {
  let app: TestingModule;
  let definitions: DefinitionsService;
  const cls = ClsServiceManager.getClsService();

  const as = <T>(team: string | null, fn: () => Promise<T>, actor: unknown = ADA): Promise<T> =>
    cls.run(() => {
      cls.set('team', team);
      app.get(WorkflowContext).setActor(actor);
      return fn();
    });

  beforeAll(async () => {
    app = await startApp({
      providers: [...EXPENSES, PublishPolicy, Listener],
      workflow: {
        owners: { resolve: (context) => context.get('team') as string | null | undefined },
        authorization: { operations: { publish: 'graphs.publish' } },
        worker: false,
      },
    });
    definitions = app.get(DefinitionsService);
  });
  afterAll(() => app.close());

  let nth = 0;
  let team: string;
  beforeEach(() => {
    nth += 1;
    team = `team-${nth}`;
    asked.length = 0;
  });

  it('TRIG-1, TRIG-2: publishing puts triggers in force, the next version keeps those that are the same, retiring ends them', async () => {
    const { store } = await app.get<WorkflowRuntime>(WORKFLOW_RUNTIME).ready();
    const triggers = async () => await store.listTriggers({ limit: 10 }, { owner: team });
    const hook = { id: 'hook', type: 'webhook', auth: 'token' };
    const daily = { id: 'daily', type: 'schedule', cron: '0 9 * * *', input: { amount: '1' } };
    await as(team, () => definitions.publish({ ...expenseGraph(), triggers: [hook, daily] }));
    const [before, address] = await triggers();
    expect(before).toMatchObject({
      triggerId: 'daily',
      type: 'schedule',
      status: 'active',
      definitionVersion: 1,
      ownerId: team,
    });
    expect(address).toMatchObject({ triggerId: 'hook', type: 'webhook', status: 'active' });
    const changed = { ...daily, input: { amount: '2' }, catchUp: 'all' };
    await as(team, () => definitions.publish({ ...expenseGraph(), triggers: [hook, changed] }));
    const [after, same] = await triggers();
    expect(after).toEqual({ ...before, spec: JSON.stringify(changed), definitionVersion: 2 });
    expect(same).toEqual({ ...address, definitionVersion: 2 });
    await as(team, () => definitions.retire('expense-approval'));
    expect((await triggers()).map(({ status, nextAt }) => [status, nextAt])).toEqual([
      ['retired', null],
      ['retired', null],
    ]);
  });

  it('GRAPH-2: validate says every fault at once and never throws for one', async () => {
    expect(await as(team, () => definitions.validate(expenseGraph()))).toEqual({ valid: true, problems: [] });
    const graph = { ...expenseGraph(), id: 'in-code', nodes: [{ id: 'a', type: 'acme.pya' }], edges: [] };
    const { valid, problems } = await as(team, () => definitions.validate(graph));
    expect(valid).toBe(false);
    expect(problems.map(({ code }) => code)).toEqual(
      expect.arrayContaining(['WORKFLOW_ID_TAKEN', 'UNKNOWN_TYPE', 'NO_END']),
    );
    expect(problems[0]).toMatchObject({ code: 'WORKFLOW_ID_TAKEN', path: '$.id' });
    for (const odd of [
      undefined,
      null,
      7,
      'text',
      [],
      new Proxy(
        {},
        {
          get: () => {
            throw new Error('no');
          },
        },
      ),
    ]) {
      expect((await as(team, () => definitions.validate(odd))).valid).toBe(false);
    }
  });

  it('GRAPH-2: validate knows what a stage gives by its output schema', async () => {
    const asked = (text: string) => {
      const { nodes, edges, ...head } = expenseGraph();
      const ways = ['true', 'false'].map((outcome) => ({ from: 'more', outcome, to: 'done' }));
      return {
        ...head,
        nodes: [...nodes, { id: 'more', type: 'condition', config: { if: text } }],
        edges: [...edges.filter(({ from }) => from !== 'pay'), { from: 'pay', to: 'more' }, ...ways],
      };
    };
    const said = async (text: string) =>
      (await as(team, () => definitions.validate(asked(text)))).problems.map(({ code, path }) => `${code} ${path}`);
    expect(await said('output("pay").paid > 5 && output("pay").by == "sepa" && output("note") == null')).toEqual([]);
    for (const text of ['output("pay").payed > 5', 'output("pay").paid', 'output("pay").by == 5'])
      expect(await said(text)).toEqual(['INVALID_EXPRESSION $.nodes[4].config.if']);
  });

  it('GRAPH-2: what may be started is known: code, published graphs of the owner, the graph itself', async () => {
    const starting = (workflow: string) => ({
      id: 'outer',
      nodes: [
        { id: 'go', type: 'start_workflow', config: { workflow } },
        { id: 'end', type: 'end' },
      ],
      edges: [{ from: 'go', to: 'end' }],
    });
    const codes = async (workflow: string, of = team) =>
      (await as(of, () => definitions.validate(starting(workflow)))).problems.map(({ code }) => code);
    expect(await codes('in-code')).toEqual([]);
    expect(await codes('outer')).toEqual([]);
    expect(await codes('expense-approval')).toEqual(['UNKNOWN_WORKFLOW']);
    await as(team, () => definitions.publish(expenseGraph()));
    expect(await codes('expense-approval')).toEqual([]);
    expect(await codes('expense-approval', 'another')).toEqual(['UNKNOWN_WORKFLOW']);
  });

  it('GRAPH-2: publishing refuses with all problems, and then nothing is written', async () => {
    const graph = { ...expenseGraph(), edges: [] };
    const refused = await as(team, () => definitions.publish(graph)).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(InvalidGraphError);
    const { problems } = await as(team, () => definitions.validate(graph));
    expect((refused as InvalidGraphError).problems).toEqual(problems);
    expect((refused as InvalidGraphError).message).toContain('$.nodes[0]');
    expect(asked).toEqual([]);
    expect((await as(team, () => definitions.list())).definitions).toEqual([]);
    await expect(as(team, () => definitions.publish(expenseGraph('sepa', 'in-code')))).rejects.toMatchObject({
      code: 'INVALID_GRAPH',
      problems: [{ code: 'WORKFLOW_ID_TAKEN' }],
    });
  });

  it('GRAPH-2: versions are n + 1 and stand as they were; the same graph makes none, whatever it is called', async () => {
    const publish = (graph: object, options?: object) => as(team, () => definitions.publish(graph, options));
    const first = await publish(expenseGraph('sepa'), { note: 'first' });
    expect(first).toMatchObject({ id: 'expense-approval', version: 1, created: true });
    expect(await publish(expenseGraph('card'))).toMatchObject({ version: 2, created: true });
    expect(await publish({ ...expenseGraph('card'), name: 'Called otherwise' })).toMatchObject({
      version: 2,
      created: false,
    });
    expect(await publish(expenseGraph('sepa'))).toMatchObject({ version: 3, fingerprint: first.fingerprint });
    const one = await as(team, () => definitions.get('expense-approval', { version: 1 }));
    expect(one).toMatchObject({
      graph: expenseGraph('sepa'),
      note: 'first',
      actor: ADA,
      owner: team,
      status: 'published',
    });
    expect((await as(team, () => definitions.get('expense-approval'))).version).toBe(3);
    const diff = await as(team, () =>
      definitions.diff({ id: 'expense-approval', version: 1 }, { id: 'expense-approval', version: 2 }),
    );
    expect(diff).toMatchObject([{ change: 'changed', part: 'node', id: 'pay', before: 'sepa', after: 'card' }]);
    const { definitions: page, cursor } = await as(team, () => definitions.list({ id: 'expense-approval', limit: 2 }));
    expect(page.map(({ version }) => version)).toEqual([3, 2]);
    const rest = await as(team, () => definitions.list({ id: 'expense-approval', cursor }));
    expect(rest).toMatchObject({ definitions: [{ version: 1 }], cursor: null });
  });

  it('GRAPH-2: drafts may be faulty, and nobody writes over what he has not read', async () => {
    const save = (graph: unknown, options?: object) => as(team, () => definitions.saveDraft(graph, options));
    const draft = await save({ id: 'expense-approval', nodes: 'soon' }, { expected: null, note: 'begun' });
    expect(draft).toMatchObject({ status: 'draft', version: null, note: 'begun', actor: ADA, publishedAt: null });
    const saved = await save(expenseGraph(), { expected: draft.revision });
    await expect(save({ id: 'expense-approval' }, { expected: draft.revision })).rejects.toMatchObject({
      code: 'DRAFT_CONFLICT',
      params: { revision: saved.revision },
    });
    await expect(save(expenseGraph(), { expected: undefined })).rejects.toMatchObject({ code: 'UNDEFINED_ID' });
    for (const faulty of [{}, { id: 'two words' }, 'text', { id: 'x', text: 'x'.repeat(300_000) }]) {
      await expect(save(faulty)).rejects.toMatchObject({ code: 'INVALID_GRAPH' });
    }
    const publish = (expected: string) =>
      as(team, () => definitions.publish({ draft: 'expense-approval' }, { expected }));
    await expect(publish(draft.revision!)).rejects.toMatchObject({ code: 'DRAFT_CONFLICT' });
    expect(await publish(saved.revision!)).toMatchObject({ version: 1, created: true });
    await expect(as(team, () => definitions.get('expense-approval', { draft: true }))).rejects.toMatchObject({
      code: 'GRAPH_NOT_FOUND',
    });
    await expect(as(team, () => definitions.publish({ draft: 'expense-approval' }))).rejects.toMatchObject({
      code: 'GRAPH_NOT_FOUND',
    });
    await save({ id: 'expense-approval' });
    await expect(as(team, () => definitions.publish({ draft: 'expense-approval' }))).rejects.toMatchObject({
      code: 'INVALID_GRAPH',
    });
  });

  it('GRAPH-2: two who publish at once get a number each, fifty times', async () => {
    const numbers: number[] = [];
    for (let round = 0; round < 50; round++) {
      const both = ['a', 'b'].map((who) => as(team, () => definitions.publish(expenseGraph(`${who}${round}`))));
      numbers.push(...(await Promise.all(both)).map(({ version }) => version).sort((a, b) => a - b));
    }
    expect(numbers).toEqual(Array.from({ length: 100 }, (_, at) => at + 1));
  }, 60_000);

  it('OWNER-5: graphs of one owner are nobody else’s; shared ones are read by all and changed by operators alone', async () => {
    const id = `shared-${nth}`;
    const triggers = [
      { id: 'nightly', type: 'schedule', cron: '0 3 * * *', input: { amount: 1 } },
      { id: 'paid', type: 'webhook', auth: 'token' },
    ];
    const mine = { ...expenseGraph('mine', id), triggers };
    await as(team, () => definitions.publish(mine));
    const stranger = (call: () => Promise<unknown>) => as('stranger', call);
    for (const call of [
      () => definitions.get(id),
      () => definitions.get(id, { version: 1 }),
      () => definitions.retire(id),
      () => definitions.retire(id, { version: 1 }),
      () => definitions.diff({ id }, mine),
      () => definitions.mermaid(id),
      () => definitions.dryRun(id, { amount: 1 }),
      () => definitions.publish({ draft: id }),
    ]) {
      await expect(stranger(call)).rejects.toMatchObject({ code: 'GRAPH_NOT_FOUND' });
    }
    expect((await stranger(() => definitions.list({ id }))) as object).toEqual({ definitions: [], cursor: null });
    expect(await stranger(() => definitions.triggers(id))).toEqual([]);
    expect(await as(team, () => definitions.triggers(id))).toMatchObject([
      { trigger: 'nightly', type: 'schedule', hook: null, owner: team, version: 1, status: 'active', started: 0 },
      { trigger: 'paid', type: 'webhook', hook: expect.stringMatching(/^[0-9a-f-]{36}$/), nextAt: null },
    ]);
    const [nightly] = await as(team, () => definitions.triggers(id));
    expect(nightly!.nextAt!.getTime()).toBeGreaterThanOrEqual(nightly!.lastAt!.getTime());
    await expect(as(null, () => definitions.publish(mine))).rejects.toMatchObject({ code: 'SHARED_GRAPH' });
    await expect(as(team, () => definitions.publish(mine, { owner: 'stranger' } as object))).rejects.toMatchObject({
      code: 'INVALID_OPTIONS',
    });
    const operator = definitions.asOperator();
    expect(await as(null, () => operator.publish(expenseGraph('all', id)))).toMatchObject({ version: 1 });
    expect(await stranger(() => definitions.get(id))).toMatchObject({ owner: null });
    expect((await as(team, () => definitions.get(id))).owner).toBe(team);
    expect((await as(null, () => operator.get(id, { owner: team }))).owner).toBe(team);
    await expect(stranger(() => definitions.retire(id))).rejects.toMatchObject({ code: 'GRAPH_NOT_FOUND' });
    expect(await as(null, () => operator.retire(id, { owner: team }))).toEqual([1]);
    expect((await as(team, () => definitions.get(id))).owner).toBe(null);
  });

  it('OWNER-5: each public method is tried across owners above', () => {
    const names = Object.getOwnPropertyNames(DefinitionsService.prototype).filter((name) => name !== 'constructor');
    const tried = [
      'validate',
      'publish',
      'retire',
      'list',
      'get',
      'diff',
      'mermaid',
      'triggers',
      'dryRun',
      'asOperator',
    ];
    // Of one id each owner has a draft of his own: test/conformance has that. Templates are the app's.
    expect(names.filter((name) => ![...tried, 'saveDraft', 'templates', 'fromTemplate'].includes(name))).toEqual([]);
  });

  it('AUTH-5 AUDIT-1: publishing is asked about by its ability, and kept, denied or not', async () => {
    const publish = (actor: unknown) => as(team, () => definitions.publish(expenseGraph(), { note: 'why' }), actor);
    await expect(publish(EVE)).rejects.toMatchObject({ code: 'AUTHORIZATION_DENIED', params: { reason: 'not you' } });
    expect(asked).toMatchObject([
      {
        kind: 'definition',
        operation: 'publish',
        definition: { id: 'expense-approval', version: null, owner: team },
        actor: EVE,
        owner: team,
        ability: 'graphs.publish',
        reason: 'why',
      },
    ]);
    await expect(as(team, () => definitions.get('expense-approval'))).rejects.toMatchObject({
      code: 'GRAPH_NOT_FOUND',
    });
    await publish(ADA);
    await publish(ADA);
    await as(team, () => definitions.retire('expense-approval', { version: 1, reason: 'old' }), EVE);
    const { entries } = await as(team, () => app.get(AuditService).list());
    expect(
      entries.map(({ action, allowed, actor, reason, details, owner, runId }) => [
        action,
        allowed,
        actor,
        reason,
        details,
        owner,
        runId,
      ]),
    ).toEqual([
      ['retire', true, EVE, 'old', { definition: 'expense-approval', version: 1, versions: [1] }, team, null],
      ['publish', true, ADA, 'why', { definition: 'expense-approval', version: 1, unchanged: true }, team, null],
      ['publish', true, ADA, 'why', { definition: 'expense-approval', version: 1 }, team, null],
      ['publish', false, EVE, 'not you', { definition: 'expense-approval', reason: 'why' }, team, null],
    ]);
  });

  it('AUTH-5 AUDIT-1: a draft that can not be published is asked about all the same, and the try is kept', async () => {
    const publish = (options?: object, actor: unknown = ADA) =>
      as(team, () => definitions.publish({ draft: 'expense-approval' }, { note: 'why', ...options }), actor);
    await expect(publish({}, EVE)).rejects.toMatchObject({ code: 'AUTHORIZATION_DENIED' });
    await expect(publish()).rejects.toMatchObject({ code: 'GRAPH_NOT_FOUND' });
    await as(team, () => definitions.saveDraft({ ...expenseGraph(), edges: [] }));
    await expect(publish({ expected: 'another' }, EVE)).rejects.toMatchObject({ code: 'AUTHORIZATION_DENIED' });
    await expect(publish({ expected: 'another' })).rejects.toMatchObject({ code: 'DRAFT_CONFLICT' });
    await expect(publish()).rejects.toMatchObject({ code: 'INVALID_GRAPH' });
    const { entries } = await as(team, () => app.get(AuditService).list({ action: 'publish' }));
    expect(entries.map(({ actor, allowed, reason, details }) => [actor, allowed, reason, details['refused']])).toEqual([
      [ADA, true, 'why', 'INVALID_GRAPH'],
      [ADA, true, 'why', 'DRAFT_CONFLICT'],
      [EVE, false, 'not you', undefined],
      [ADA, true, 'why', 'GRAPH_NOT_FOUND'],
      [EVE, false, 'not you', undefined],
    ]);
  });

  it('EVT-2: what is published and retired is told in order, with who and whose', async () => {
    const listener = app.get(Listener);
    await as(team, () => definitions.publish(expenseGraph(), { note: 'why' }));
    await as(team, () => definitions.publish(expenseGraph('card')));
    await as(team, () => definitions.retire('expense-approval'));
    const own = await listener.hasHeard(team, 4);
    expect(own.map(({ type, data }) => [type, data.version])).toEqual([
      ['definition:published', 1],
      ['definition:published', 2],
      ['definition:retired', 1],
      ['definition:retired', 2],
    ]);
    expect(listener.owners).toEqual(listener.heard.map(({ owner }) => owner));
    expect(own[0]).toMatchObject({
      run: null,
      actor: ADA,
      runAs: ADA,
      subject: null,
      data: { definition: 'expense-approval', note: 'why' },
    });
  });

  it('GRAPH-2: any definition can be drawn: code, graph, draft', async () => {
    expect(await as(team, () => definitions.mermaid('in-code'))).toContain('acme.note');
    await as(team, () => definitions.saveDraft({ id: 'half', nodes: [{ id: 'a', type: 'end' }, 7] }));
    expect(await as(team, () => definitions.mermaid({ id: 'half', draft: true }))).toContain('"a');
    expect(await as(team, () => definitions.mermaid(expenseGraph()))).toContain('large');
    await expect(as(team, () => definitions.mermaid('nope'))).rejects.toMatchObject({ code: 'GRAPH_NOT_FOUND' });
  });
});
