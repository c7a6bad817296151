import { ClsModule, ClsServiceManager } from 'nestjs-cls';
import {
  ApprovalsService,
  AuditService,
  DefinitionsService,
  OnWorkflowEvent,
  Stage,
  WorkflowContext,
  WorkflowService,
  type ApproverContext,
  type ApproverResolver,
  type RunHandle,
  type StageContext,
  type WorkflowEvent,
} from 'nestjs-workflow-engine';
import { WorkflowTester } from 'nestjs-workflow-engine/testing';
import { z } from 'zod';
import { testServerUrl } from '../support/database.js';

const order = { input: z.object({ by: z.array(z.string()) }), output: z.object({ ordered: z.boolean() }) };
const ordered: (readonly string[])[] = [];

@Stage({ id: 'acme.order', ...order })
class Order {
  execute(ctx: StageContext<typeof order>) {
    ordered.push(ctx.input.by);
    return { ordered: true };
  }
}

class Leads implements ApproverResolver {
  people = ['ann', 'bob', 'cleo'];

  resolve(_context: ApproverContext) {
    return Promise.resolve(this.people);
  }
}

/** Who is there when the leads do not answer. */
const deputies: ApproverResolver = { resolve: () => ['dora', 'ann', 'erin'] };

const heard: WorkflowEvent[] = [];

class Listener {
  @OnWorkflowEvent([
    'approval:opened',
    'approval:reassigned',
    'approval:resolved',
    'escalation:notified',
    'escalation:failed',
  ])
  on(event: WorkflowEvent) {
    heard.push(event);
  }
}

/** Two of three leads have to agree, within five days; after two, whoever is given is told. */
const purchase = (
  id = 'purchase',
  action: object = { type: 'notify', to: 'input.watchers', message: 'It waits.' },
) => ({
  id,
  nodes: [
    {
      id: 'sign',
      type: 'approval',
      config: { approvers: 'approvers.leads', rule: { atLeast: 2 }, expires: '5 days' },
      escalations: [{ after: '2 days', action }],
    },
    {
      id: 'order',
      type: 'acme.order',
      input: { by: 'output("sign").decisions.map(d, d.by)' },
    },
    { id: 'done', type: 'end', config: { outcome: 'ordered' } },
    { id: 'refused', type: 'end', config: { outcome: 'refused' } },
    { id: 'late', type: 'end', config: { outcome: 'late' } },
  ],
  edges: [
    { from: 'sign', outcome: 'approved', to: 'order' },
    { from: 'sign', outcome: 'rejected', to: 'refused' },
    { from: 'sign', outcome: 'expired', to: 'late' },
    { from: 'order', to: 'done' },
  ],
});

describe('a published graph that asks for approval', () => {
  let tester: WorkflowTester;
  let approvals: ApprovalsService;
  const leads = new Leads();

  beforeAll(async () => {
    tester = await WorkflowTester.create({
      server: testServerUrl(),
      imports: [ClsModule.forRoot({ global: true })],
      workflow: { approvals: { resolvers: { leads, deputies } } },
      providers: [Order, Listener],
    });
    approvals = tester.app.get(ApprovalsService);
    await tester.app.get(DefinitionsService).publish(purchase());
  });
  afterAll(() => tester.close());
  beforeEach(() => {
    ordered.length = 0;
    heard.length = 0;
  });

  /** As a request of somebody. */
  const as = <T>(id: string, fn: () => Promise<T>): Promise<T> =>
    ClsServiceManager.getClsService().run(() => {
      tester.app.get(WorkflowContext).setActor({ id });
      return fn();
    });
  const inbox = async (id: string, run: RunHandle) =>
    (await as(id, () => approvals.inbox())).asks.filter(({ runId }) => runId === run.id);

  async function begin(workflow = 'purchase', watchers = ['boss', 'dora']): Promise<RunHandle> {
    const run = await as('ann', () => tester.start(workflow, { watchers }));
    await tester.drain();
    return run;
  }
  const roundOf = async (run: RunHandle): Promise<string> => (await inbox('bob', run))[0]!.round;
  const stages = async (run: RunHandle) =>
    (await tester.history(run)).stages.map(({ key, status, outcome }) => [key, status, outcome]);

  it('APPR-1, APPR-2: two of those who were asked agree, and it goes on to its stage and its end', async () => {
    const run = await begin();
    // Who started it is a lead, and no approver of his own request.
    expect(await inbox('ann', run)).toEqual([]);
    const [ask] = await inbox('bob', run);
    expect(ask).toMatchObject({ runId: run.id, definition: 'purchase', node: 'sign', stage: 0, requester: 'ann' });
    expect(await inbox('cleo', run)).toEqual([{ ...ask, approver: 'cleo' }]);
    await as('cleo', () => approvals.decide(ask!.round, 'approved', { stage: 0 }));
    expect(await tester.drain()).toEqual({ processed: 0 });
    expect(await tester.status(run)).toBe('RUNNING');
    await as('bob', () => approvals.decide(ask!.round, 'approved', { stage: 0 }));
    await tester.drain();
    expect(await stages(run)).toEqual([
      ['sign', 'COMPLETED', 'approved'],
      ['order', 'COMPLETED', null],
      ['done', 'COMPLETED', 'ordered'],
    ]);
    expect(await tester.status(run)).toBe('COMPLETED');
    expect(ordered).toEqual([['cleo', 'bob']]);
    await tester.travel('6 days');
    expect(heard.map(({ type }) => type)).toEqual(['approval:opened', 'approval:resolved']);
    expect((await tester.history(run)).stages[0]!.escalations).toMatchObject([{ level: 1, status: 'CANCELLED' }]);
  });

  it('APPR-1, ESC-1: nobody answers: those that it names are told, once, and its time ends by the edge for that', async () => {
    const run = await begin();
    const round = await roundOf(run);
    await tester.travel('2 days');
    await tester.travel('1 day');
    const told = heard.filter(({ type }) => type === 'escalation:notified');
    expect(told).toMatchObject([{ run: { id: run.id }, data: { to: ['boss', 'dora'], message: 'It waits.' } }]);
    await as('bob', () => approvals.decide(round, 'approved'));
    await tester.travel('2 days');
    expect(await stages(run)).toEqual([
      ['sign', 'COMPLETED', 'expired'],
      ['late', 'COMPLETED', 'late'],
    ]);
    expect(await tester.status(run)).toBe('COMPLETED');
    expect(heard.at(-1)).toMatchObject({ type: 'approval:resolved', data: { round, outcome: 'expired' } });
    await expect(as('cleo', () => approvals.decide(round, 'approved'))).rejects.toMatchObject({ code: 'ROUND_CLOSED' });
    expect(await inbox('cleo', run)).toEqual([]);
    expect(ordered).toEqual([]);
  });

  it('K42, ESC-1: when the leads do not answer their deputies are asked too, whoever they are then, and decide', async () => {
    const action = { type: 'reassign', to: 'approvers.deputies' };
    await tester.app.get(DefinitionsService).publish(purchase('reassigned', action));
    const run = await begin('reassigned');
    const round = await roundOf(run);
    expect(await inbox('erin', run)).toEqual([]);
    await as('bob', () => approvals.decide(round, 'approved'));
    await tester.travel('2 days');
    for (const id of ['dora', 'erin', 'cleo']) expect(await inbox(id, run)).toMatchObject([{ round, approver: id }]);
    // Who started the run is a deputy, and no approver of his own request.
    expect(await inbox('ann', run)).toEqual([]);
    const { stages: rows } = await tester.history(run);
    expect(rows[0]!.escalations).toMatchObject([
      { action: 'reassign', status: 'COMPLETED', to: ['dora', 'erin'], output: { round, stage: 0 } },
    ]);
    expect(heard.map(({ type, data }) => [type, data['approvers']])).toEqual([
      ['approval:opened', ['bob', 'cleo']],
      ['approval:reassigned', ['dora', 'erin']],
    ]);
    const { entries } = await tester.app.get(AuditService).list({ run, action: 'reassign' });
    expect(entries).toMatchObject([
      {
        ...{ actor: null, allowed: true, source: `run ${run.id}` },
        details: {
          ...{ round, node: 'sign', stage: 0, escalation: 'sign#1', to: 'approvers.deputies' },
          ...{ approvers: ['dora', 'ann', 'erin'], asked: ['dora', 'erin'] },
        },
      },
    ]);
    await as('erin', () => approvals.decide(round, 'approved'));
    await tester.drain();
    expect(await tester.status(run)).toBe('COMPLETED');
    expect(ordered).toEqual([['bob', 'erin']]);
  });

  it.each([
    ['nobody', '[]', 'NO_RECIPIENTS', []],
    ['who asks for it', '["ann"]', 'NO_APPROVERS', ['NO_APPROVERS']],
  ])('ESC-2: that gives it to %s fails by its code, and the round stays as it is', async (_who, to, code, refused) => {
    const id = `reassigned-${code.toLowerCase()}`;
    await tester.app.get(DefinitionsService).publish(purchase(id, { type: 'reassign', to }));
    const run = await begin(id);
    const round = await roundOf(run);
    await tester.travel('2 days');
    expect((await tester.history(run)).stages[0]!.escalations).toMatchObject([{ status: 'FAILED', error: { code } }]);
    expect(heard.at(-1)).toMatchObject({ type: 'escalation:failed', data: { code } });
    const { entries } = await tester.app.get(AuditService).list({ run, action: 'reassign' });
    expect(entries.map(({ details }) => details['refused'])).toEqual(refused);
    for (const one of ['bob', 'cleo']) await as(one, () => approvals.decide(round, 'approved'));
    await tester.drain();
    expect(await tester.status(run)).toBe('COMPLETED');
  });

  it('K42: a resolver of approvers says who is told, too', async () => {
    const action = { type: 'notify', to: 'approvers.deputies' };
    await tester.app.get(DefinitionsService).publish(purchase('told', action));
    await begin('told');
    await tester.travel('2 days');
    expect(heard.at(-1)).toMatchObject({ type: 'escalation:notified', data: { to: ['dora', 'ann', 'erin'] } });
  });

  it('APPR-3: a rerun from the approval asks in a round of its own, whoever is a lead then', async () => {
    const run = await begin();
    const first = await roundOf(run);
    await as('bob', () => approvals.decide(first, 'rejected'));
    await tester.drain();
    expect(await stages(run)).toEqual([
      ['sign', 'COMPLETED', 'rejected'],
      ['refused', 'COMPLETED', 'refused'],
    ]);
    leads.people = ['bob', 'dora', 'erin'];
    try {
      await as('ann', () => tester.app.get(WorkflowService).rerunFrom(run, 'sign'));
      await tester.drain();
    } finally {
      leads.people = ['ann', 'bob', 'cleo'];
    }
    const second = await roundOf(run);
    expect(second === first).toBe(false);
    expect(await inbox('cleo', run)).toEqual([]);
    expect(await as('bob', () => approvals.get(second))).toMatchObject({ status: 'open', requester: 'ann' });
    // What was decided there says nothing here, nor the other way round.
    await expect(as('erin', () => approvals.decide(first, 'approved'))).rejects.toMatchObject({ code: 'ROUND_CLOSED' });
    for (const id of ['erin', 'bob']) await as(id, () => approvals.decide(second, 'approved'));
    await tester.drain();
    expect(await tester.status(run)).toBe('COMPLETED');
    expect(ordered).toEqual([['erin', 'bob']]);
    expect(await as('bob', () => approvals.get(first))).toMatchObject({ status: 'rejected' });
  });
});
