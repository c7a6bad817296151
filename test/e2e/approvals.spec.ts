import { ClsModule, ClsServiceManager } from 'nestjs-cls';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { INestApplicationContext } from '@nestjs/common';
import {
  ApprovalsService,
  AuditService,
  OnWorkflowEvent,
  Stage,
  Workflow,
  WorkflowContext,
  WorkflowHost,
  WorkflowModule,
  WorkflowPolicy,
  WorkflowService,
  type Flow,
  type OperationAuthorization,
  type StageContext,
  type WorkflowEvent,
} from 'nestjs-workflow-engine';
import { DataSource } from 'typeorm';
import { z } from 'zod';
import { WORKFLOW_RUNTIME, type WorkflowRuntime } from '../../lib/composition/workflow-runtime.js';
import { roundSignal } from '../../lib/engine/approvals/index.js';
import { derivedId } from '../../lib/engine/codec/index.js';
import type { WorkflowStore } from '../../lib/engine/ports/index.js';
import { newRound, type RoundGiven } from '../../lib/testing/conformance/approval-builders.js';
import { freshDatabase, type FreshDatabase } from '../support/database.js';
import { startApp } from './app.js';

const none = { input: z.any(), output: z.any() };

/** Waits as an approval node does. */
@Stage({ id: 'sign', ...none })
class Sign {
  async execute(ctx: StageContext<typeof none>) {
    const signal = roundSignal(derivedId(ctx.stage.runId, 'approval', 0));
    return ctx.step.waitForSignal('end', { signal });
  }
}

@Workflow({ id: 'expense', version: 1, input: none.input })
class Expense {
  define(flow: Flow<typeof none.input>) {
    return flow.pipe(Sign);
  }
}

/** Closing and reminding is for bosses. */
@WorkflowPolicy('approvals.operate')
class BossPolicy {
  authorize({ actor }: OperationAuthorization) {
    return (actor as { id?: string } | null)?.id === 'boss';
  }
}

const heard: WorkflowEvent[] = [];

class Listener {
  @OnWorkflowEvent(['approval:decided', 'approval:resolved', 'approval:reminded', 'approval:delegated'])
  on(event: WorkflowEvent) {
    heard.push(event);
  }
}

describe('ApprovalsService', () => {
  let database: FreshDatabase;
  let app: INestApplicationContext;
  let approvals: ApprovalsService;
  let store: WorkflowStore;
  const cls = ClsServiceManager.getClsService();

  /** As a request of somebody, of the one team that there is. */
  const as = <T>(id: string | null, fn: () => Promise<T>): Promise<T> =>
    cls.run(() => {
      cls.set('team', 'a');
      if (id !== null) app.get(WorkflowContext).setActor({ id });
      return fn();
    });
  const drain = () => app.get(WorkflowHost).processAvailable();

  beforeAll(async () => {
    database = await freshDatabase();
    app = await startApp({
      modules: [
        TypeOrmModule.forRoot({ type: 'postgres', url: database.url, retryAttempts: 0 }),
        ClsModule.forRoot({ global: true }),
        WorkflowModule.forRoot({
          worker: false,
          owners: { resolve: (context) => context.get('team') as string },
          authorization: { operations: { closeApproval: 'approvals.operate', remind: 'approvals.operate' } },
        }),
      ],
      providers: [Sign, Expense, BossPolicy, Listener],
    });
    approvals = app.get(ApprovalsService);
    ({ store } = await app.get<WorkflowRuntime>(WORKFLOW_RUNTIME, { strict: false }).ready());
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });
  beforeEach(() => void heard.splice(0));

  async function asked(given: RoundGiven = {}): Promise<{ id: string; runId: string }> {
    const { run } = await as('ada', () => app.get(WorkflowService).start(Expense, {}));
    await drain();
    const [visit] = (await store.history(run.id, { all: true }))!.stageRuns;
    const place = { runId: run.id, stageRunId: visit!.id };
    const round = await store.openRound(place, newRound(place, given));
    if (round === 'ended') throw new Error('It has ended.');
    return { id: round.id, runId: run.id };
  }

  const audited = async (runId: string) =>
    (await as('ada', () => app.get(AuditService).list({ run: runId }))).entries.map((entry) => [
      entry.action,
      entry.allowed,
      entry.details,
    ]);

  it('APPR-2: an inbox, two decisions, and the run goes on', async () => {
    const { id, runId } = await asked();
    const { asks } = await as('u1', () => approvals.inbox());
    expect(asks).toMatchObject([{ round: id, runId, definition: 'expense', stage: 0, approver: 'u1', node: 'sign' }]);
    const first = await as('u1', () => approvals.decide(id, 'approved', { stage: 0, reason: 'cheap', comment: 'ok' }));
    expect(first).toMatchObject({ repeated: false, approval: { status: 'open' } });
    expect(first.approval.stages[0]).toMatchObject({
      missing: { people: 1 },
      approvers: [{ approver: 'u1', decision: { by: 'u1', reason: 'cheap', comment: 'ok' } }, { decision: null }],
    });
    expect((await as('u1', () => approvals.inbox())).asks).toEqual([]);
    expect(await as('u1', () => approvals.decide(id, 'approved'))).toMatchObject({ repeated: true });
    const last = await as('u2', () => approvals.decide(id, 'approved'));
    expect(last.approval).toMatchObject({ status: 'approved', endedBy: null });
    expect(last.approval.endedAt).toBeInstanceOf(Date);
    await drain();
    expect(await as('ada', () => app.get(WorkflowService).get(runId))).toMatchObject({ status: 'COMPLETED' });
    expect(await as('u9', () => approvals.get(id))).toEqual(last.approval);
    expect(await audited(runId)).toEqual([
      ['decide', true, { round: id, node: 'sign', answer: 'approved' }],
      ['decide', true, { round: id, node: 'sign', answer: 'approved', repeated: true }],
      ['decide', true, { round: id, node: 'sign', answer: 'approved' }],
    ]);
  });

  it('APPR-2: what is refused says why by its code, and is kept as refused', async () => {
    const { id, runId } = await asked();
    await expect(as('u9', () => approvals.decide(id, 'approved'))).rejects.toMatchObject({ code: 'NOT_AN_APPROVER' });
    await expect(as(null, () => approvals.decide(id, 'approved'))).rejects.toMatchObject({ code: 'APPROVER_UNKNOWN' });
    await expect(as(null, () => approvals.inbox())).rejects.toMatchObject({ code: 'APPROVER_UNKNOWN' });
    await expect(as('u1', () => approvals.decide(id, 'maybe' as never))).rejects.toMatchObject({
      code: 'INVALID_OPTIONS',
    });
    await expect(as('u1', () => approvals.decide('nope', 'approved'))).rejects.toMatchObject({
      code: 'APPROVAL_NOT_FOUND',
    });
    await expect(as('u1', () => approvals.decide(undefined as never, 'approved'))).rejects.toMatchObject({
      code: 'UNDEFINED_ID',
    });
    expect(await audited(runId)).toEqual([
      ['decide', true, { round: id, node: 'sign', answer: 'approved', refused: 'NOT_AN_APPROVER' }],
    ]);
  });

  it('APPR-1: delegate, revoke and withdraw are for who it is about', async () => {
    const { id } = await asked();
    const given = await as('u1', () => approvals.delegate(id, 'u9', { reason: 'away' }));
    expect(given.approval.stages[0]!.approvers[0]).toMatchObject({ holder: 'u9', handedOver: [{ reason: 'away' }] });
    expect((await as('u9', () => approvals.inbox())).asks).toMatchObject([{ round: id, approver: 'u1' }]);
    await expect(as('u1', () => approvals.decide(id, 'approved'))).rejects.toMatchObject({ code: 'NOT_AN_APPROVER' });
    await as('u9', () => approvals.decide(id, 'approved'));
    await expect(as('u1', () => approvals.revoke(id))).rejects.toMatchObject({ code: 'SEAT_DECIDED' });
    await as('u9', () => approvals.withdraw(id));
    await as('u1', () => approvals.revoke(id));
    await expect(as('u9', () => approvals.decide(id, 'approved'))).rejects.toMatchObject({ code: 'NOT_AN_APPROVER' });
    await expect(as('u9', () => approvals.withdraw(id))).rejects.toMatchObject({ code: 'NOTHING_TO_WITHDRAW' });
  });

  it('AUTH-5: closing a round and reminding of it ask for their abilities; a denial is kept and changes nothing', async () => {
    const { id, runId } = await asked();
    for (const call of [() => approvals.close(id, 'approved'), () => approvals.remind(id)]) {
      await expect(as('u1', call)).rejects.toMatchObject({ code: 'AUTHORIZATION_DENIED' });
    }
    expect(await as('u1', () => approvals.get(id))).toMatchObject({ status: 'open', remindedAt: null });
    const closed = await as('boss', () => approvals.close(id, 'rejected', { reason: 'budget' }));
    expect(closed.approval).toMatchObject({ status: 'rejected', endedBy: 'boss', endReason: 'budget' });
    await drain();
    expect(await as('ada', () => app.get(WorkflowService).get(runId))).toMatchObject({ status: 'COMPLETED' });
    expect((await audited(runId)).map(([action, allowed]) => [action, allowed])).toEqual([
      ['closeApproval', true],
      ['remind', false],
      ['closeApproval', false],
    ]);
  });

  it('K44: reminders are throttled, and say when one is possible again', async () => {
    const { id } = await asked();
    await as('boss', () => approvals.remind(id));
    const before = Date.now();
    const error: unknown = await as('boss', () => approvals.remind(id)).catch((one: unknown) => one);
    expect(error).toMatchObject({ code: 'REMINDED_TOO_SOON' });
    const { possibleAt } = (error as { params: { possibleAt: string } }).params;
    expect(Date.parse(possibleAt)).toBeGreaterThan(before);
  });

  it('EVT-2: what becomes of a round is told after its commit, once', async () => {
    const { id } = await asked({ approvers: ['u1'] });
    await as('u1', () => approvals.delegate(id, 'u9'));
    await as('u9', () => approvals.decide(id, 'rejected', { reason: 'dear' }));
    await app.get(WorkflowHost).processAvailable();
    await drainOutbox();
    const told = heard.filter(({ data }) => data['round'] === id);
    expect(told.map(({ type }) => type)).toEqual(['approval:delegated', 'approval:decided', 'approval:resolved']);
    expect(told[1]).toMatchObject({ stage: { key: 'sign' }, data: { by: 'u9', onBehalfOf: 'u1', answer: 'rejected' } });
    expect(told[2]!.data).toMatchObject({ outcome: 'rejected', by: null });
  });

  it('RUN-1: a decision in a transaction of the host happens if that commits', async () => {
    const { id, runId } = await asked({ approvers: ['u1'] });
    const dataSource = app.get(DataSource);
    const decided = dataSource.transaction(async (manager) => {
      await as('u1', () => approvals.decide(id, 'approved', { manager }));
      throw new Error('no after all');
    });
    await expect(decided).rejects.toThrow('no after all');
    expect(await as('u1', () => approvals.get(id))).toMatchObject({ status: 'open' });
    await dataSource.transaction((manager) => as('u1', () => approvals.decide(id, 'approved', { manager })));
    await drain();
    expect(await as('ada', () => app.get(WorkflowService).get(runId))).toMatchObject({ status: 'COMPLETED' });
  });

  it('OWNER-5: asOperator() reaches rounds of all owners', async () => {
    const { id } = await asked({ approvers: ['u1'] });
    const elsewhere = <T>(fn: () => Promise<T>): Promise<T> =>
      cls.run(() => {
        cls.set('team', 'b');
        app.get(WorkflowContext).setActor({ id: 'u1' });
        return fn();
      });
    await expect(elsewhere(() => approvals.get(id))).rejects.toMatchObject({ code: 'APPROVAL_NOT_FOUND' });
    const decided = await elsewhere(() => approvals.asOperator().decide(id, 'approved'));
    expect(decided.approval).toMatchObject({ status: 'approved', owner: 'a' });
  });

  async function drainOutbox(): Promise<void> {
    const { runtime } = await app.get<WorkflowRuntime>(WORKFLOW_RUNTIME, { strict: false }).ready();
    await runtime.relay.runOnce();
  }
});
