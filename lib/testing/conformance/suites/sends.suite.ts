import type { ClaimedJob } from '../../../engine/ports/index.js';
import {
  followedBy,
  leaseOf,
  linear,
  lostRecord,
  newId,
  newJob,
  newRun,
  newStageRun,
  newTransition,
  released,
  retrying,
} from '../builders.js';
import { LIMITS, type StoreUnderTest } from '../store-under-test.js';
import type { StoreSuite } from '../suite.js';

const REQUEUE_AFTER_MS = 60_000;

/** Jobs on their way to an external transport, and the messages that come back from it. */
export function describeSends({ it, expect }: StoreSuite): void {
  const take = (on: StoreUnderTest) => on.store.takeUnsent(100);
  const isOverdue = async (on: StoreUnderTest) => (await on.probe({ requeueAfterMs: REQUEUE_AFTER_MS })).sentOverdue;
  const claimAttempt = (on: StoreUnderTest, stageRunId: string, attempt: number) =>
    on.store.claimStageRun(stageRunId, 'worker-a', { kind: 'execute', attempt });
  const claimed = async (on: StoreUnderTest, stageRunId: string, attempt: number): Promise<ClaimedJob> => {
    const job = await claimAttempt(on, stageRunId, attempt);
    if (typeof job === 'string') throw new Error(`It was a ${job}.`);
    return job;
  };
  const onlyStage = ({ transition }: { readonly transition: { readonly stageRuns: readonly { id: string }[] } }) =>
    transition.stageRuns[0]?.id ?? '';

  it('JOB-5: a due job is sent once, and says what it begins', async (on) => {
    const job = newJob({ queue: 'mail' });
    const run = await on.start({ priority: 3, transition: newTransition({ stageRuns: [newStageRun({ job })] }) });
    await on.start({ delayMs: 60_000 });
    expect(await take(on)).toEqual([
      {
        kind: 'execute',
        stageRunId: onlyStage(run),
        runId: run.id,
        queue: 'mail',
        priority: 3,
        attempt: 1,
        resumes: 0,
      },
    ]);
    expect(await take(on)).toEqual([]);
  });

  it('JOB-5: what is sent is not claimed by a worker, and does not hide what is due', async (on) => {
    await on.start({ priority: 9 });
    await take(on);
    expect(await on.claim({ limit: 1 })).toEqual({ claimed: [], discarded: [] });
    const run = await on.start();
    expect((await on.store.takeUnsent(1)).map(({ runId }) => runId)).toEqual([run.id]);
  });

  it('RUN-6: higher priority is sent first, then what has been due for longer; no more than asked for', async (on) => {
    const late = await on.start({ delayMs: 2_000 });
    const early = await on.start({ delayMs: 1_000 });
    const urgent = await on.start({ priority: 5 });
    on.travel(10_000);
    await on.promote();
    const order = [...(await on.store.takeUnsent(2)), ...(await on.store.takeUnsent(2))];
    expect(order.map(({ runId }) => runId)).toEqual([urgent.id, early.id, late.id]);
  });

  it('JOB-5: two processes that send at once send each job once', async (on) => {
    await on.store.createRuns(Array.from({ length: 20 }, () => newRun()));
    const taken = [...(await Promise.all([take(on), on.second.takeUnsent(100)])), await take(on)].flat();
    expect(taken).toHaveLength(20);
    expect(new Set(taken.map(({ stageRunId }) => stageRunId)).size).toBe(20);
  });

  it('JOB-5: a message claims the attempt that it names, sent or not, and none other', async (on) => {
    const run = await on.start();
    const stageRunId = onlyStage(run);
    expect(await claimAttempt(on, stageRunId, 2)).toBe('duplicate');
    await take(on);
    expect(await claimAttempt(on, stageRunId, 1)).toMatchObject({ run: { id: run.id }, stageRun: { attempt: 1 } });
    expect(await claimAttempt(on, stageRunId, 1)).toBe('duplicate');
    const unsent = await on.start();
    expect(await claimAttempt(on, onlyStage(unsent), 1)).toMatchObject({ run: { id: unsent.id } });
  });

  it('RETRY-1: a message that comes twice does not cut the backoff short, nor begin the next attempt', async (on) => {
    const job = await on.startAndClaim();
    const stageRunId = job.stageRun.id;
    await on.store.record([linear(job, { outcome: retrying(60_000) })]);
    expect(await claimAttempt(on, stageRunId, 1)).toBe('duplicate');
    expect(await claimAttempt(on, stageRunId, 2)).toBe('duplicate');
    expect(await take(on)).toEqual([]);
    on.travel(60_001);
    await on.promote();
    expect(await claimAttempt(on, stageRunId, 1)).toBe('duplicate');
    expect(await take(on)).toMatchObject([{ stageRunId, attempt: 2 }]);
    expect(await claimAttempt(on, stageRunId, 2)).toMatchObject({ stageRun: { attempt: 2 } });
  });

  it('JOB-5: the stage that follows and one that is given back are sent anew', async (on) => {
    const run = await on.start();
    await take(on);
    const first = await claimed(on, onlyStage(run), 1);
    await on.store.record([linear(first, { outcome: released() })]);
    expect(await take(on)).toMatchObject([{ stageRunId: first.stageRun.id, attempt: 1 }]);
    const again = await claimed(on, first.stageRun.id, 1);
    const transition = followedBy();
    await on.store.record([linear(again, { transition })]);
    expect(await take(on)).toMatchObject([{ stageRunId: onlyStage({ transition }), attempt: 1 }]);
  });

  it('LEASE-3: a job whose lease was lost is sent anew, as the same attempt', async (on) => {
    const run = await on.start();
    await take(on);
    const expired = await on.expire(await claimed(on, onlyStage(run), 1));
    const decide = () => newTransition();
    expect(await on.store.reap([lostRecord(expired)], LIMITS, decide)).toBe(1);
    expect(await take(on)).toMatchObject([{ runId: run.id, attempt: 1 }]);
    await claimed(on, onlyStage(run), 1);
  });

  it('GHOST-1: what was sent of a run that has ended is gone', async (on) => {
    const run = await on.start();
    await take(on);
    await on.cancel(run.id);
    expect(await claimAttempt(on, onlyStage(run), 1)).toBe('orphan');
    on.travel(2 * REQUEUE_AFTER_MS);
    expect(await isOverdue(on)).toBe(false);
  });

  it('CANCEL-3: the call of a cancel hook is sent as one, and claimed as one', async (on) => {
    const { stageRun, run } = await on.startAndClaim();
    await on.cancel(run.id, { cancelJobs: [{ stageRunId: stageRun.id, job: newJob() }] });
    expect(await take(on)).toMatchObject([{ kind: 'cancel', stageRunId: stageRun.id, attempt: 1 }]);
    const claim = (attempt: number) => on.store.claimStageRun(stageRun.id, 'worker-a', { kind: 'cancel', attempt });
    expect(await claim(2)).toBe('duplicate');
    const hook = (await claim(1)) as ClaimedJob;
    expect(hook).toMatchObject({ kind: 'cancel', stageRun: { id: stageRun.id, attempt: 1 } });
    expect(await claim(1)).toBe('duplicate');
    await on.store.finishCancelJob(leaseOf(hook), 60_000);
    on.travel(60_001);
    await on.promote();
    expect(await take(on)).toMatchObject([{ kind: 'cancel', attempt: 2 }]);
    expect(await claim(2)).toMatchObject({ kind: 'cancel' });
  });

  it('CANCEL-3: asked for again while it is sent, a hook is called once', async (on) => {
    const live = await on.startAndClaim();
    await on.cancel(live.run.id, { cancelJobs: [{ stageRunId: live.stageRun.id, job: newJob() }] });
    await take(on);
    await on.store.addCancelJob(leaseOf(live), newId(), 'default');
    expect(await take(on)).toEqual([]);
  });

  it('JOB-5: a message that nobody claimed in time counts as lost, and its job is due again', async (on) => {
    const run = await on.start();
    await take(on);
    on.travel(REQUEUE_AFTER_MS - 20_000);
    expect(await isOverdue(on)).toBe(false);
    expect(await on.store.requeueSent(REQUEUE_AFTER_MS, 10)).toBe(0);
    on.travel(20_001);
    expect(await isOverdue(on)).toBe(true);
    expect(await on.store.requeueSent(REQUEUE_AFTER_MS, 10)).toBe(1);
    expect(await isOverdue(on)).toBe(false);
    expect(await take(on)).toMatchObject([{ runId: run.id, attempt: 1 }]);
    on.travel(REQUEUE_AFTER_MS + 1_000);
    // Claimed late is claimed: it is not lost, however long it runs.
    await claimAttempt(on, onlyStage(run), 1);
    expect(await isOverdue(on)).toBe(false);
    expect(await on.store.requeueSent(REQUEUE_AFTER_MS, 10)).toBe(0);
  });
}
