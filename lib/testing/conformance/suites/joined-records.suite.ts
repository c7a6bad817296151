import type { ClaimedJob, DecideSettled, SettleEvent } from '../../../engine/ports/index.js';
import type { RunState, Transition } from '../../../engine/state/rows.js';
import {
  completed,
  ending,
  failed,
  failing,
  followedBy,
  group,
  joined,
  leaseOf,
  newId,
  newRun,
  newTransition,
  retrying,
  skipped,
} from '../builders.js';
import { rejection, type StoreUnderTest } from '../store-under-test.js';
import type { StoreSuite } from '../suite.js';

/** A `decide` that answers with what it is given and remembers what it was asked. */
class Decider {
  readonly asked: { readonly definitionKey: string; readonly state: RunState; readonly event: SettleEvent }[] = [];

  constructor(private readonly answer: () => Transition) {}

  readonly decide: DecideSettled = (definitionKey, state, events) => {
    for (const event of events) this.asked.push({ definitionKey, state, event });
    return this.answer();
  };
}

const advancing = (): Decider => new Decider(() => followedBy({ key: 'next', ordinal: 9 }));

/** Starts a run with a group and claims its branches, in the order of their keys. */
async function claimGroup(on: StoreUnderTest, keys: readonly string[]): Promise<ClaimedJob[]> {
  const run = await on.start({ transition: group(keys) });
  const { claimed } = await on.claim();
  const mine = claimed.filter((job) => job.run.id === run.id);
  return mine.sort((a, b) => keys.indexOf(a.stageRun.key) - keys.indexOf(b.stageRun.key));
}

async function claimPair(on: StoreUnderTest): Promise<[left: ClaimedJob, right: ClaimedJob]> {
  const [left, right] = await claimGroup(on, ['left', 'right']);
  if (left === undefined || right === undefined) throw new Error('Both branches were to be claimed.');
  return [left, right];
}

export function describeJoinedRecords({ it, expect }: StoreSuite): void {
  it('GRP-1: a branch that is not the last one is stored, and nothing is asked', async (on) => {
    const [left] = await claimPair(on);
    const decider = advancing();
    expect(await on.settle([joined(left)], decider.decide)).toEqual([
      { verdict: 'recorded', handedOff: false, finished: null },
    ]);
    expect(decider.asked).toEqual([]);
    expect(await on.statuses(left.run.id)).toEqual(['left COMPLETED', 'right RUNNING']);
    expect(await on.isAnythingDue()).toBe(false);
    expect(await on.store.extendLeases([leaseOf(left)])).toEqual(new Map([[left.jobId, 'lost']]));
  });

  it('GRP-2: the last branch asks once what follows, from rows that show all branches ended', async (on) => {
    const [left, right] = await claimPair(on);
    const decider = advancing();
    await on.settle([joined(left, { outcome: completed('1') })], decider.decide);
    await on.settle([joined(right, { outcome: completed('2') })], decider.decide);

    expect(decider.asked).toHaveLength(1);
    const [asked] = decider.asked;
    expect(asked?.definitionKey).toBe('documents@1#f1');
    expect(asked?.event).toEqual({ type: 'node-settled', node: 'group', visit: 1 });
    expect(asked?.state).toMatchObject({
      id: left.run.id,
      status: 'RUNNING',
      generation: 1,
      priority: 0,
      queue: null,
      input: '{"a":1}',
      stageRunCount: 2,
      stageRuns: [
        { key: 'left', node: 'group', visit: 1, status: 'COMPLETED', output: '1', attempt: 1, ordinal: 1 },
        { key: 'right', node: 'group', visit: 1, status: 'COMPLETED', output: '2', attempt: 1, ordinal: 2 },
      ],
    });
    expect((await on.claimOne()).stageRun.key).toBe('next');
  });

  it('FAULT D4: both last branches in one call advance the run once', async (on) => {
    const [left, right] = await claimPair(on);
    const decider = advancing();
    const verdicts = await on.settle(
      [joined(left, { outcome: completed('1') }), joined(right, { outcome: completed('2') })],
      decider.decide,
    );
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(['recorded', 'recorded']);
    expect(decider.asked).toHaveLength(1);
    expect(decider.asked[0]?.state.stageRuns.map(({ output }) => output)).toEqual(['1', '2']);
    expect((await on.claim()).claimed).toHaveLength(1);
  });

  it('FAULT D4: both last branches in two calls at once advance the run once', async (on) => {
    for (let round = 0; round < 5; round++) {
      const [left, right] = await claimPair(on);
      const decider = advancing();
      await Promise.all([
        on.settle([joined(left)], decider.decide, on.store),
        on.settle([joined(right)], decider.decide, on.second),
      ]);
      const nexts = (await on.statuses(left.run.id)).filter((line) => line.startsWith('next'));
      expect(nexts).toEqual(['next PENDING']);
      expect((await on.claim()).claimed).toHaveLength(1);
    }
  });

  it('FAULT D4: twelve branches that end in groups at once advance the run once', async (on) => {
    const branches = await claimGroup(
      on,
      Array.from({ length: 12 }, (_, i) => `branch-${String(i).padStart(2, '0')}`),
    );
    const decider = advancing();
    const groups = [0, 3, 6, 9].map((from) => branches.slice(from, from + 3).map((job) => joined(job)));
    await Promise.all(
      groups.map((records, i) => on.settle(records, decider.decide, i % 2 === 0 ? on.store : on.second)),
    );
    const statuses = await on.statuses(branches[0]?.run.id ?? '');
    expect(statuses.filter((line) => line.endsWith('COMPLETED'))).toHaveLength(12);
    expect(statuses.filter((line) => line.startsWith('next'))).toEqual(['next PENDING']);
  });

  it('GRP-2: the same branch twice in one call counts once', async (on) => {
    const [left] = await claimPair(on);
    const decider = advancing();
    const verdicts = await on.settle([joined(left), joined(left)], decider.decide);
    expect(verdicts.filter(({ verdict }) => verdict === 'recorded').length).toBeGreaterThan(0);
    expect(decider.asked).toEqual([]);
  });

  it('GRP-4: a branch that skips itself counts as ended', async (on) => {
    const [left, right] = await claimPair(on);
    const decider = advancing();
    await on.settle([joined(left, { outcome: skipped('no need') }), joined(right)], decider.decide);
    expect(decider.asked).toHaveLength(1);
    expect(await on.statuses(left.run.id)).toEqual(['left SKIPPED', 'right COMPLETED', 'next PENDING']);
  });

  it('GRP-3: a branch that is tried again does not count as ended', async (on) => {
    const [left, right] = await claimPair(on);
    const decider = advancing();
    await on.settle([joined(left), joined(right, { outcome: retrying() })], decider.decide);
    expect(decider.asked).toEqual([]);
    const again = await on.claimOne();
    expect(again.stageRun).toMatchObject({ key: 'right', attempt: 2 });
    await on.settle([joined(again)], decider.decide);
    expect(decider.asked).toHaveLength(1);
  });

  it('GRP-2: a node with a single stage, which has no counter, settles with it', async (on) => {
    const job = await on.startAndClaim();
    const decider = advancing();
    await on.settle([joined(job)], decider.decide);
    expect(decider.asked.map(({ event }) => event)).toEqual([{ type: 'node-settled', node: 'first', visit: 1 }]);
    expect(await on.statuses(job.run.id)).toEqual(['first COMPLETED', 'next PENDING']);
  });

  it('FAIL-1: a terminal failure fails the run in the same call and cancels what is open', async (on) => {
    const [left, right] = await claimPair(on);
    const decider = new Decider(failing);
    const verdicts = await on.settle([joined(left, { outcome: failed({ code: 'BROKEN' }) })], decider.decide);

    expect(verdicts).toEqual([
      {
        verdict: 'recorded',
        handedOff: false,
        finished: { runId: left.run.id, status: 'FAILED', awaited: false },
      },
    ]);
    expect(decider.asked).toHaveLength(1);
    expect(decider.asked[0]?.event).toMatchObject({
      type: 'stage-failed',
      stageRunId: left.stageRun.id,
      key: 'left',
      failure: { code: 'BROKEN', message: 'It went wrong.' },
    });
    expect(await on.statuses(left.run.id)).toEqual(['left FAILED', 'right CANCELLED']);
    expect(await on.run(left.run.id)).toMatchObject({
      status: 'FAILED',
      failureCode: 'BROKEN',
      failureMessage: 'It broke.',
      failedNode: 'first',
    });
    expect(await on.store.extendLeases([leaseOf(right)])).toEqual(new Map([[right.jobId, 'cancelled']]));
  });

  it('GRP-3: branches that wait in the queue are gone with the run', async (on) => {
    await on.start({ transition: group(['left', 'right']) });
    const left = await on.claimOne();
    await on.settle([joined(left, { outcome: failed() })], () => failing());
    expect(await on.claim()).toEqual({ claimed: [], discarded: [] });
    // Which branch of a run is claimed first is left open.
    const { key } = left.stageRun;
    const other = key === 'left' ? 'right' : 'left';
    expect((await on.statuses(left.run.id)).sort()).toEqual([`${key} FAILED`, `${other} CANCELLED`].sort());
  });

  it('FAIL-2: a terminal failure is kept as an attempt, and on the stage run', async (on) => {
    const job = await on.startAndClaim();
    await on.settle([joined(job, { outcome: failed({ code: 'BROKEN', message: 'For good.' }) })], () => failing());
    expect((await on.history(job.run.id)).attempts).toMatchObject([{ attempt: 1, code: 'BROKEN' }]);
    expect(await on.stageRun(job.run.id, 'first')).toMatchObject({ errorCode: 'BROKEN', errorMessage: 'For good.' });
  });

  it('FAIL-1: two failures in one call are given at once, in their order', async (on) => {
    const [left, right] = await claimPair(on);
    const decider = new Decider(failing);
    const verdicts = await on.settle(
      [joined(left, { outcome: failed({ code: 'ONE' }) }), joined(right, { outcome: failed({ code: 'TWO' }) })],
      decider.decide,
    );
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(['recorded', 'recorded']);
    expect(decider.asked.map(({ event }) => event)).toMatchObject([
      { failure: { code: 'ONE' } },
      { failure: { code: 'TWO' } },
    ]);
    expect(await on.statuses(left.run.id)).toEqual(['left FAILED', 'right FAILED']);
  });

  it('FAIL-1: a failure beside the last completion in one call decides alone', async (on) => {
    const [left, right] = await claimPair(on);
    const decider = new Decider(failing);
    await on.settle([joined(left), joined(right, { outcome: failed() })], decider.decide);
    expect(decider.asked.map(({ event }) => event.type)).toEqual(['stage-failed']);
    expect(await on.statuses(left.run.id)).toEqual(['left COMPLETED', 'right FAILED']);
    expect((await on.run(left.run.id)).status).toBe('FAILED');
  });

  it('FAIL-1: a failure decides alone even when it decides nothing', async (on) => {
    const [left, right] = await claimPair(on);
    const decider = new Decider(newTransition);
    await on.settle([joined(left), joined(right, { outcome: failed() })], decider.decide);
    expect(decider.asked.map(({ event }) => event.type)).toEqual(['stage-failed']);
  });

  it('GRP-3: a branch that ends after its run has failed is not fenced', async (on) => {
    const [left, right] = await claimPair(on);
    await on.settle([joined(left, { outcome: failed() })], () => failing());
    const decider = advancing();
    expect(await on.settle([joined(right)], decider.decide)).toEqual([{ verdict: 'not-fenced' }]);
    expect(decider.asked).toEqual([]);
    expect(await on.statuses(left.run.id)).toEqual(['left FAILED', 'right CANCELLED']);
  });

  it('LEASE-5: a branch that is not fenced moves no counter', async (on) => {
    const [left, right] = await claimPair(on);
    const decider = advancing();
    const stale = { ...leaseOf(right), token: newId() };
    const verdicts = await on.settle([joined(left), joined(right, { lease: stale })], decider.decide);
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(['recorded', 'not-fenced']);
    expect(decider.asked).toEqual([]);
    await on.settle([joined(right)], decider.decide);
    expect(decider.asked).toHaveLength(1);
  });

  it('GRP-2: a branch recorded twice moves the counter once', async (on) => {
    const [left, right] = await claimPair(on);
    const decider = advancing();
    await on.settle([joined(left)], decider.decide);
    expect(await on.settle([joined(left)], decider.decide)).toEqual([{ verdict: 'not-fenced' }]);
    expect(decider.asked).toEqual([]);
    await on.settle([joined(right)], decider.decide);
    expect(decider.asked).toHaveLength(1);
  });

  it('RUN-8: when deciding throws nothing is written, and it can be settled again', async (on) => {
    const [left, right] = await claimPair(on);
    await on.settle([joined(left)], advancing().decide);
    const before = await on.history(left.run.id);
    const broken = new Error('The definition is not here.');

    const error = await rejection(
      on.store.settle([joined(right, { events: [{ type: 'stage:completed' }] })], () => {
        throw broken;
      }),
    );

    expect(error).toBe(broken);
    expect(await on.history(left.run.id)).toEqual(before);
    expect(await on.eventTypes(left.run.id)).toEqual(['stage:started', 'stage:started']);
    const decider = advancing();
    await on.settle([joined(right)], decider.decide);
    expect(decider.asked).toHaveLength(1);
  });

  it('RUN-8: a consequence that cannot be stored takes the outcome back with it', async (on) => {
    const job = await on.startAndClaim();
    const taken = followedBy({ id: job.stageRun.id });
    const error = await rejection(on.store.settle([joined(job)], () => taken));
    expect(on.store.isDataError(error)).toBe(true);
    expect(await on.statuses(job.run.id)).toEqual(['first RUNNING']);
  });

  it('GRP-2: several runs settle in one call, each on its own', async (on) => {
    const [one, two, three] = [await claimPair(on), await claimPair(on), await claimPair(on)];
    await on.settle([joined(two[0])], advancing().decide);
    const decider = advancing();
    await on.settle(
      [...one, two[1], three[0]].map((job) => joined(job)),
      decider.decide,
    );
    expect(decider.asked.map(({ state }) => state.id).sort()).toEqual([one[0].run.id, two[0].run.id].sort());
    expect(await on.statuses(three[0].run.id)).toEqual(['left COMPLETED', 'right RUNNING']);
  });

  it('RUN-4: the end of a run is told once, although all its last branches are in the call', async (on) => {
    const run = await on.start({ awaited: true, transition: group(['left', 'right']) });
    const { claimed } = await on.claim();
    const verdicts = await on.settle(
      claimed.map((job) => joined(job)),
      () => ending('"all"'),
    );
    const finished = verdicts.flatMap((verdict) => (verdict.verdict === 'recorded' ? (verdict.finished ?? []) : []));
    expect(finished).toEqual([{ runId: run.id, status: 'COMPLETED', awaited: true }]);
    expect(await on.run(run.id)).toMatchObject({ status: 'COMPLETED', output: '"all"' });
  });

  it('EVT-1: events of the outcomes come before those of what follows', async (on) => {
    const [left, right] = await claimPair(on);
    await on.settle(
      [
        joined(left, { events: [{ type: 'stage:completed', data: { key: 'left' } }] }),
        joined(right, { events: [{ type: 'stage:completed', data: { key: 'right' } }] }),
      ],
      () => ({ ...ending(), events: [{ type: 'run:completed' }] }),
    );
    const told = (await on.events(left.run.id)).filter(({ type }) => type !== 'stage:started');
    expect(told).toEqual([
      { type: 'stage:completed', data: { key: 'left' } },
      { type: 'stage:completed', data: { key: 'right' } },
      { type: 'run:completed' },
    ]);
  });

  it('EVT-1: a branch that is not the last one is told, too', async (on) => {
    const [left] = await claimPair(on);
    await on.settle([joined(left, { events: [{ type: 'stage:completed' }] })], advancing().decide);
    expect(await on.eventTypes(left.run.id)).toEqual(['stage:started', 'stage:started', 'stage:completed']);
  });

  it('RUN-6: what follows a group keeps priority and place of its run', async (on) => {
    const run = await on.start({ priority: 4, transition: group(['left', 'right']) });
    const { claimed } = await on.claim();
    on.travel(1_000);
    await on.store.createRuns([newRun({ priority: 4 }), newRun({ priority: 3 })]);
    await on.settle(
      claimed.map((job) => joined(job)),
      advancing().decide,
    );
    expect((await on.claimOne()).run.id).toBe(run.id);
  });

  it('GRP-1: a group may follow a group', async (on) => {
    const [left, right] = await claimPair(on);
    const second = group(['up', 'down'], { node: 'second', after: 2 });
    await on.settle([joined(left), joined(right)], () => second);
    const { claimed } = await on.claim();
    const decider = advancing();
    await on.settle([joined(claimed[0] as ClaimedJob)], decider.decide);
    expect(decider.asked).toEqual([]);
    await on.settle([joined(claimed[1] as ClaimedJob)], decider.decide);
    expect(decider.asked.map(({ event }) => event)).toEqual([{ type: 'node-settled', node: 'second', visit: 1 }]);
    expect(decider.asked[0]?.state.stageRunCount).toBe(4);
  });

  it('RUN-8: a decision that changes nothing leaves the outcomes', async (on) => {
    const job = await on.startAndClaim();
    expect(await on.settle([joined(job)], () => newTransition())).toMatchObject([{ verdict: 'recorded' }]);
    expect(await on.statuses(job.run.id)).toEqual(['first COMPLETED']);
    expect((await on.run(job.run.id)).status).toBe('RUNNING');
  });

  it('RUN-8: no branches are no work', async (on) => {
    expect(await on.store.settle([], advancing().decide)).toEqual([]);
  });
}
