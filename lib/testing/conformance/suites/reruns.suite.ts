import type { ClaimedJob } from '../../../engine/ports/index.js';
import type { Transition } from '../../../engine/state/rows.js';
import {
  completed,
  failed,
  failing,
  followedBy,
  group,
  joined,
  linear,
  newJob,
  newRun,
  newStageRun,
  newTransition,
} from '../builders.js';
import { begin, eventWait, finish, sleep, suspending } from '../step-builders.js';
import { EVERYBODY, type StoreUnderTest } from '../store-under-test.js';
import type { StoreSuite } from '../suite.js';

/** A run of three stages that has completed, each with the key of its place as output. */
async function completedRun(on: StoreUnderTest): Promise<{ runId: string; jobs: ClaimedJob[] }> {
  const first = await on.startAndClaim();
  await on.store.record([linear(first, { outcome: completed('1'), transition: followedBy() })]);
  const second = await on.claimOne();
  const third = followedBy({ key: 'third', ordinal: 3 });
  await on.store.record([linear(second, { outcome: completed('2'), transition: third })]);
  const last = await on.claimOne();
  await on.store.record([linear(last, { outcome: completed('3') })]);
  return { runId: first.run.id, jobs: [first, second, last] };
}

/** The run goes on from a new second stage; what is given is kept. */
const rerunning = (kept: readonly string[], given: Partial<Transition> = {}): Transition =>
  newTransition({
    run: { to: 'RUNNING' },
    rerun: { kept },
    stageRuns: [newStageRun({ key: 'second', ordinal: 4, position: 1 })],
    ...given,
  });

const migrating = (given: Partial<Transition> = {}): Transition =>
  newTransition({ migrate: { version: 2, definitionKey: 'documents@2#f2' }, ...given });

/** Runs that go on in a new generation, or under another version of their definition. */
export function describeReruns({ it, expect }: StoreSuite): void {
  it('CANCEL-4, RUN-5: a rerun has its deadline from now on', async (on) => {
    const job = await on.startAndClaim({ deadlineMs: 60_000 });
    await on.store.record([linear(job)]);
    on.travel(120_000);
    await on.change(job.run.id, rerunning([]));
    expect(await on.store.findOverdue(10, 0)).toEqual([]);
    on.travel(61_000);
    expect(await on.store.findOverdue(10, 0)).toEqual([{ runId: job.run.id }]);
  });

  it('RUN-5: a rerun keeps what it is told to, and goes on with new stage runs', async (on) => {
    const { runId, jobs } = await completedRun(on);
    await on.change(runId, rerunning([jobs[0]?.stageRun.id ?? '']));
    expect(await on.run(runId)).toMatchObject({ status: 'RUNNING', generation: 2, output: null, finishedAt: null });
    const rows = (await on.history(runId)).stageRuns;
    const shown = rows.map(({ generation, key, status }) => `${generation} ${key} ${status}`);
    expect(shown.sort()).toEqual(['1 second COMPLETED', '1 third COMPLETED', '2 first COMPLETED', '2 second PENDING']);

    const again = await on.claimOne();
    expect(again).toMatchObject({ run: { id: runId, generation: 2 }, stageRun: { key: 'second', attempt: 1 } });
    expect(again.earlier.map(({ key, output }) => `${key} ${output}`)).toEqual(['first 1']);
    expect(again.stageRun.hasLedger).toBe(false);
    const record = linear(again, { outcome: completed('4') });
    expect(await on.store.record([record])).toMatchObject([{ finished: { status: 'COMPLETED' } }]);
  });

  it('RUN-5: what is decided from afterwards is the new generation', async (on) => {
    const { runId, jobs } = await completedRun(on);
    await on.change(runId, rerunning([jobs[0]?.stageRun.id ?? '']));
    const looked = await on.store.changeRun(runId, EVERYBODY, ({ state }) => ({ transition: null, answer: state }));
    expect(looked?.answer).toMatchObject({ generation: 2, status: 'RUNNING', stageRunCount: 4 });
    expect(looked?.answer.stageRuns.map(({ key, status }) => `${key} ${status}`)).toEqual([
      'first COMPLETED',
      'second PENDING',
    ]);
  });

  it('RUN-5: a group that is run anew counts its own branches', async (on) => {
    await on.start({ transition: group(['left', 'right']) });
    for (const branch of (await on.claim()).claimed) {
      await on.settle([joined(branch)], () => newTransition({ run: { to: 'COMPLETED', output: '1' } }));
    }
    const [run] = await on.store.listRuns({ limit: 1 }, EVERYBODY);
    if (run === undefined) throw new Error('A run was started.');
    await on.change(run.id, { ...group(['left', 'right'], { after: 2 }), run: { to: 'RUNNING' }, rerun: { kept: [] } });
    let asked = 0;
    const decide = () => {
      asked++;
      return newTransition();
    };
    const { claimed } = await on.claim();
    expect(claimed.map(({ stageRun }) => stageRun.key).sort()).toEqual(['left', 'right']);
    for (const branch of claimed) {
      expect(asked).toBe(0);
      await on.settle([joined(branch)], decide);
    }
    expect(asked).toBe(1);
  });

  it('RUN-5: a kept group keeps its counter', async (on) => {
    await on.start({ transition: group(['left', 'right']) });
    const [left, right] = (await on.claim()).claimed;
    if (left === undefined || right === undefined) throw new Error('Two branches were due.');
    await on.settle([joined(left, { outcome: completed('1') })], () => newTransition());
    await on.settle([joined(right, { outcome: failed() })], () => failing());
    // A rerun into the group: its completed branch is kept, the other one is opened again.
    const reopened = [{ id: right.stageRun.id, job: newJob() }];
    const visits = [{ node: 'group', visit: 1, open: 1 }];
    const kept = [left.stageRun.id, right.stageRun.id];
    await on.change(left.run.id, newTransition({ run: { to: 'RUNNING' }, rerun: { kept }, reopened, visits }));
    let asked = 0;
    await on.settle([joined(await on.claimAgain(right))], () => {
      asked++;
      return newTransition();
    });
    expect(asked).toBe(1);
    expect((await on.stageRun(left.run.id, 'left')).generation).toBe(2);
  });

  it('RUN-5: the ledger of a stage that is run anew begins empty; the old one stays', async (on) => {
    const job = await on.startAndClaim();
    await on.write(begin(job, 'fetch'));
    await on.write(finish(job, 'fetch'));
    await on.store.record([linear(job)]);
    const stageRuns = [newStageRun({ ordinal: 2 })];
    await on.change(job.run.id, newTransition({ run: { to: 'RUNNING' }, rerun: { kept: [] }, stageRuns }));
    const again = await on.claimOne();
    expect(await on.ledger(again)).toEqual([]);
    expect(await on.ledger(job)).toHaveLength(1);
    const { steps } = await on.history(job.run.id);
    expect(steps.map(({ stageRunId, key }) => `${stageRunId} ${key}`)).toEqual([`${job.stageRun.id} fetch`]);
  });

  it('RUN-5: a rerun from CANCELLED and from FAILED goes on alike', async (on) => {
    for (const end of [
      (job: ClaimedJob) => on.cancel(job.run.id),
      (job: ClaimedJob) => on.settle([joined(job, { outcome: failed() })], () => failing()),
    ]) {
      const job = await on.startAndClaim();
      await end(job);
      const stageRuns = [newStageRun({ ordinal: 2 })];
      await on.change(job.run.id, newTransition({ run: { to: 'RUNNING' }, rerun: { kept: [] }, stageRuns }));
      expect(await on.run(job.run.id)).toMatchObject({ status: 'RUNNING', failureCode: null, cancelReason: null });
      const again = await on.claimOne();
      expect(again).toMatchObject({ run: { id: job.run.id, generation: 2 }, stageRun: { attempt: 1, budgetFrom: 0 } });
      expect(await on.store.record([linear(again)])).toMatchObject([{ verdict: 'recorded' }]);
    }
  });

  it('VER-1: a run that is moved to another version is claimed as one of that version', async (on) => {
    const run = await on.start();
    const other = await on.start();
    await on.change(run.id, migrating());
    expect(await on.run(run.id)).toMatchObject({ definitionVersion: 2, definitionKey: 'documents@2#f2' });
    const { claimed } = await on.claim({ unserved: ['documents@1#f1'] });
    expect(claimed).toMatchObject([{ run: { id: run.id, definitionVersion: 2, definitionKey: 'documents@2#f2' } }]);
    expect((await on.claim()).claimed).toMatchObject([{ run: { id: other.id, definitionVersion: 1 } }]);
  });

  it('VER-1: what a moved run queues later is of its new version, delayed and suspended work included', async (on) => {
    const asleep = await on.startAndClaim();
    await on.suspend(suspending(asleep, [sleep('nap', 60_000)]));
    const delayed = newRun({ delayMs: 60_000 });
    await on.store.createRuns([delayed]);
    for (const runId of [asleep.run.id, delayed.id]) await on.change(runId, migrating());
    on.travel(61_000);
    await on.fire();
    await on.promote();
    const { claimed } = await on.claim({ unserved: ['documents@1#f1'] });
    expect(claimed.map(({ run }) => run.id).sort()).toEqual([asleep.run.id, delayed.id].sort());
    expect(await on.step(asleep, 'nap')).toMatchObject({ status: 'completed' });
  });

  it('VER-1: a move keeps the waits of the run', async (on) => {
    const job = await on.startAndClaim();
    await on.suspend(suspending(job, [eventWait('event')]));
    await on.change(job.run.id, migrating());
    expect(await on.step(job, 'event')).toMatchObject({ status: 'waiting' });
    expect(await on.stageRun(job.run.id, 'first')).toMatchObject({ status: 'SUSPENDED', generation: 1 });
  });

  it('FAULT F10: an attempt of a generation that was set aside writes nothing more', async (on) => {
    const job = await on.startAndClaim();
    await on.cancel(job.run.id);
    const stageRuns = [newStageRun({ ordinal: 2 })];
    await on.change(job.run.id, newTransition({ run: { to: 'RUNNING' }, rerun: { kept: [] }, stageRuns }));
    expect(await on.store.record([linear(job)])).toEqual([{ verdict: 'not-fenced' }]);
    expect(await on.suspend(suspending(job, [sleep('nap', 1)]))).toEqual({ verdict: 'not-fenced' });
    expect(await on.write(begin(job, 'fetch'))).toEqual(['not-fenced']);
    expect((await on.claimOne()).run).toMatchObject({ id: job.run.id, generation: 2 });
  });
}
