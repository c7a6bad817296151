import { decideRound, type ApprovalAnswer, type ApprovalRound } from '../../../lib/engine/approvals/index.js';
import { v7 } from 'uuid';
import type { ApproverResolver } from '../../../lib/interfaces/index.js';
import { end, graphFlow, type GraphEdge, type GraphNode } from './support/graph-flow.js';
import type { TestStage } from './support/pipeline.js';
import { TestEngine } from './support/test-engine.js';

const EVERYBODY = { all: true } as const;

let engine: TestEngine;
afterEach(() => engine.close());

interface Given {
  readonly actor?: unknown;
  readonly input?: unknown;
  readonly resolvers?: Readonly<Record<string, ApproverResolver>>;
  readonly edges?: readonly GraphEdge[];
  readonly before?: readonly GraphNode[];
  readonly stages?: readonly TestStage[];
  /** What else the node says. */
  readonly more?: object;
}

/** A run at an approval of this config. */
async function ask(config: object, given: Given = {}): Promise<string> {
  const { actor = null, input = {}, resolvers = {}, edges = [], before = [], stages = [], more = {} } = given;
  const nodes = [
    ...before,
    { id: 'sign', type: 'approval', config, ...more },
    end('paid', { outcome: 'paid', output: 'output("sign")' }),
    end('refused', { outcome: 'refused', output: 'output("sign")' }),
  ];
  const ways: GraphEdge[] = [...edges, ['sign', 'paid', 'approved'], ['sign', 'refused', 'rejected']];
  const flow = await graphFlow(nodes, ways, stages);
  engine = new TestEngine([flow], { options: { approvals: { resolvers } } });
  const runId = await engine.start(flow, input, { actor: actor === null ? null : JSON.stringify(actor) });
  await engine.drain();
  return runId;
}

async function roundOf(runId: string): Promise<ApprovalRound> {
  const { stageRuns } = await engine.history(runId);
  const visit = stageRuns.findLast(({ key }) => key === 'sign')!;
  return (await engine.store.findRound({ runId, stageRunId: visit.id }))!;
}

async function decide(round: ApprovalRound, by: string, answer: ApprovalAnswer = 'approved'): Promise<string> {
  const asked = { id: v7(), by, answer, reason: 'fine', comment: null, stage: null };
  const changed = await engine.store.changeRound(round, EVERYBODY, ({ round: found, now }) => {
    const decided = decideRound(found, asked, now);
    const change = decided.kind === 'changed' ? decided.change : null;
    return { change, answer: decided.kind === 'refused' ? decided.error.code : decided.kind };
  });
  await engine.drain();
  return changed!.answer;
}

const runOf = async (runId: string) => (await engine.history(runId)).run;

describe('an approval node', () => {
  it('APPR-1: asks its approvers, sleeps, and goes on by what they come to', async () => {
    const runId = await ask({ approvers: ['u1', 'u2'], rule: 'all' });
    const round = await roundOf(runId);
    expect(round).toMatchObject({ status: 'open', node: 'sign' });
    expect((await engine.history(runId)).stageRuns).toMatchObject([{ node: 'sign', status: 'SUSPENDED', attempt: 1 }]);
    expect(await decide(round, 'u1')).toBe('changed');
    expect(await decide(round, 'u2')).toBe('changed');
    expect(await runOf(runId)).toMatchObject({ status: 'COMPLETED' });
    expect(await engine.output(runId)).toMatchObject({
      outcome: 'approved',
      round: round.id,
      decisions: [
        { by: 'u1', onBehalfOf: null, answer: 'approved', reason: 'fine' },
        { by: 'u2', onBehalfOf: null, answer: 'approved', reason: 'fine' },
      ],
      closedBy: null,
    });
  });

  it('APPR-1: a no goes on by rejected', async () => {
    const runId = await ask({ approvers: ['u1', 'u2'], rule: 'all' });
    await decide(await roundOf(runId), 'u2', 'rejected');
    const { stageRuns } = await engine.history(runId);
    expect(stageRuns.map(({ node, outcome }) => [node, outcome])).toEqual([
      ['sign', 'rejected'],
      ['refused', 'refused'],
    ]);
  });

  it('K41: approvers are resolved when the approval is entered, on what is true then, and kept', async () => {
    const leads = ['old'];
    const promote: TestStage = { key: 'promote', execute: () => (leads.splice(0, 1, 'new'), null) };
    const seen: unknown[] = [];
    const financeLeads: ApproverResolver = {
      resolve: ({ node, run, requester }) => (seen.push([node, run.input, requester]), [...leads]),
    };
    const runId = await ask(
      { approvers: 'approvers.financeLeads' },
      {
        ...{ resolvers: { financeLeads }, input: { amount: 7 }, actor: { id: 'ada' } },
        ...{ before: [{ id: 'promote', type: 'promote' }], edges: [['promote', 'sign']], stages: [promote] },
      },
    );
    const round = await roundOf(runId);
    expect(round.seats.map(({ approver }) => approver)).toEqual(['new']);
    leads.splice(0, 1, 'newer');
    expect(await decide(round, 'newer')).toBe('NOT_AN_APPROVER');
    expect(await decide(round, 'new')).toBe('changed');
    expect(seen).toEqual([['sign', { amount: 7 }, { id: 'ada' }]]);
  });

  it('K45: without approvers the stage fails, and asks again when it is retried by hand', async () => {
    const leads: string[] = [];
    const runId = await ask({ approvers: 'approvers.leads' }, { resolvers: { leads: { resolve: () => leads } } });
    expect(await runOf(runId)).toMatchObject({ status: 'FAILED', failureCode: 'NO_APPROVERS', failedNode: 'sign' });
    expect((await engine.history(runId)).attempts).toHaveLength(1);
    leads.push('u1');
    await engine.retry(runId);
    await engine.drain();
    expect(await decide(await roundOf(runId), 'u1')).toBe('changed');
    expect(await runOf(runId)).toMatchObject({ status: 'COMPLETED' });
  });

  it('APPR-1: who started the run is no approver of it', async () => {
    const runId = await ask({ approvers: ['ada', 'u2'] }, { actor: { id: 'ada' } });
    const round = await roundOf(runId);
    expect(round).toMatchObject({ requester: 'ada', seats: [{ approver: 'u2' }] });
    expect(await decide(round, 'ada')).toBe('NOT_AN_APPROVER');
  });

  it('APPR-1: approvers come from expressions, with groups and weights', async () => {
    const config = { approvers: 'input.people', rule: { perGroup: 1 } };
    const people = [
      { id: 'u1', group: 'finance' },
      { id: 'u2', group: 'legal' },
    ];
    const runId = await ask(config, { input: { people } });
    const round = await roundOf(runId);
    expect(await decide(round, 'u1')).toBe('changed');
    expect((await roundOf(runId)).status).toBe('open');
    expect(await decide(round, 'u2')).toBe('changed');
    expect(await runOf(runId)).toMatchObject({ status: 'COMPLETED' });
  });

  it('RETRY-1: a resolver that throws is tried again as any stage is, and opens one round', async () => {
    let calls = 0;
    const resolve = () => {
      calls += 1;
      if (calls < 3) throw new Error('The directory is away.');
      return ['u1'];
    };
    const runId = await ask({ approvers: 'approvers.leads' }, { resolvers: { leads: { resolve } } });
    for (let nr = 0; nr < 3; nr++) await engine.travel(3_600_000);
    expect(calls).toBe(3);
    expect(await decide(await roundOf(runId), 'u1')).toBe('changed');
  });

  it('ESC-2: an escalation that adds approvers where nobody was asked yet is tried again until somebody is', async () => {
    let away = true;
    const resolve = () => {
      if (away) throw new Error('The directory is away.');
      return ['u1'];
    };
    const more = {
      retry: { backoff: '2h', jitter: 0 },
      escalations: [{ after: '1h', action: { type: 'reassign', to: ['u9'] } }],
    };
    const runId = await ask({ approvers: 'approvers.leads' }, { resolvers: { leads: { resolve } }, more });
    await engine.travel(3_600_000);
    const escalation = async () => (await engine.history(runId)).stageRuns.find(({ key }) => key === 'sign#1');
    expect(await escalation()).toMatchObject({ status: 'PENDING', errorCode: 'ROUND_NOT_OPENED' });
    away = false;
    await engine.travel(3_600_000);
    await engine.travel(3_600_000);
    expect(await escalation()).toMatchObject({ status: 'COMPLETED' });
    expect((await roundOf(runId)).seats.map(({ approver }) => approver)).toEqual(['u1', 'u9']);
    expect(await decide(await roundOf(runId), 'u9')).toBe('changed');
    expect(await runOf(runId)).toMatchObject({ status: 'COMPLETED' });
  });

  it('UNKNOWN_APPROVERS: a resolver that this build does not have fails the stage', async () => {
    const runId = await ask({ approvers: 'approvers.leads' });
    expect(await runOf(runId)).toMatchObject({ status: 'FAILED', failureCode: 'UNKNOWN_APPROVERS' });
  });

  it('APPR-1: time that is over goes on by expired', async () => {
    const config = { approvers: ['u1'], expires: '2 days' };
    const runId = await ask(config, { edges: [['sign', 'refused', 'expired']] });
    const round = await roundOf(runId);
    await engine.travel(2 * 86_400_000 + 1);
    expect(await engine.output(runId)).toMatchObject({ outcome: 'expired', decisions: [] });
    expect(await engine.store.getRound(round.id, EVERYBODY)).toMatchObject({ status: 'expired', endedBy: null });
    expect(await decide(round, 'u1')).toBe('ROUND_CLOSED');
  });

  it('WAIT-5, APPR-3: without an edge for it the stage fails, and a retry by hand asks in a round of its own', async () => {
    const runId = await ask({ approvers: ['u1'], expires: '2 days' });
    const first = await roundOf(runId);
    await engine.travel(2 * 86_400_000 + 1);
    expect(await runOf(runId)).toMatchObject({ status: 'FAILED', failureCode: 'WAIT_TIMEOUT' });
    await engine.retry(runId);
    await engine.drain();
    const second = await roundOf(runId);
    expect(second.id).not.toBe(first.id);
    expect(second.status).toBe('open');
    expect(await decide(second, 'u1')).toBe('changed');
    expect(await runOf(runId)).toMatchObject({ status: 'COMPLETED' });
  });

  it('APPR-2: a signal that somebody else sends under the name of a round decides nothing', async () => {
    const runId = await ask({ approvers: ['u1'] });
    const round = await roundOf(runId);
    const signal = { id: v7(), ownerId: null, key: `approval:${round.id}`, subject: null, payload: '"approved"' };
    await engine.store.sendSignal({ ...signal, messageDigest: null }, runId, EVERYBODY);
    await engine.drain();
    expect((await engine.history(runId)).stageRuns).toMatchObject([{ node: 'sign', status: 'SUSPENDED' }]);
    expect(await decide(round, 'u1')).toBe('changed');
    expect(await runOf(runId)).toMatchObject({ status: 'COMPLETED' });
  });

  it('I3: a cancelled run asks nobody any more', async () => {
    const runId = await ask({ approvers: ['u1'] });
    const round = await roundOf(runId);
    await engine.cancel(runId);
    expect(await decide(round, 'u1')).toBe('ROUND_CLOSED');
    expect(await engine.store.listAsks({ holder: 'u1', limit: 10 }, EVERYBODY)).toEqual([]);
  });
});
