import type { ClaimedJob } from '../../../engine/ports/index.js';
import { followedBy, leaseOf, linear, lost, lostRecord, newId, newJob } from '../builders.js';
import { LIMITS, type StoreUnderTest } from '../store-under-test.js';
import type { StoreSuite } from '../suite.js';

/** Cancels a claimed run whose stage has a cancel hook; claims the job that calls it. */
async function claimHook(on: StoreUnderTest): Promise<{ live: ClaimedJob; hook: ClaimedJob }> {
  const live = await on.startAndClaim();
  await on.cancel(live.run.id, { cancelJobs: [{ stageRunId: live.stageRun.id, job: newJob() }] });
  return { live, hook: await on.claimOne({ workerId: 'worker-b' }) };
}

const NEVER = (): never => {
  throw new Error('Nothing was to be decided.');
};

export function describeCancelJobs({ it, expect }: StoreSuite): void {
  it('CANCEL-3: the hook of a live stage is a job, claimed although its run has ended', async (on) => {
    const { live, hook } = await claimHook(on);
    expect(hook).toMatchObject({
      kind: 'cancel',
      run: { id: live.run.id, input: '{"a":1}' },
      stageRun: { id: live.stageRun.id, key: 'first', attempt: 1 },
    });
    expect(hook.token).not.toBe(live.token);
    expect(await on.statuses(live.run.id)).toEqual(['first CANCELLED']);
    expect(await on.eventTypes(live.run.id)).toEqual(['stage:started', 'run:cancelled']);
  });

  it('CANCEL-3: the hook waits in the queue it was given', async (on) => {
    const live = await on.startAndClaim();
    const job = newJob({ queue: 'mail' });
    await on.cancel(live.run.id, { cancelJobs: [{ stageRunId: live.stageRun.id, job }] });
    expect((await on.claim({ queues: ['default'] })).claimed).toEqual([]);
    expect((await on.claimOne({ queues: ['mail'] })).jobId).toBe(job.id);
  });

  it('CANCEL-3: a hook that is done is gone', async (on) => {
    const { hook } = await claimHook(on);
    expect(await on.store.finishCancelJob(leaseOf(hook), null)).toBe(true);
    expect(await on.store.finishCancelJob(leaseOf(hook), null)).toBe(false);
    on.travel(LIMITS.staleMs + 1_000);
    expect(await on.store.findExpired(LIMITS, 10)).toEqual([]);
    expect(await on.isAnythingDue()).toBe(false);
  });

  it('CANCEL-3: a hook that failed is tried again later, its tries counted', async (on) => {
    const { hook } = await claimHook(on);
    expect(await on.store.finishCancelJob(leaseOf(hook), 60_000)).toBe(true);
    expect(await on.isAnythingDue()).toBe(false);
    on.travel(60_001);
    expect(await on.store.promoteDelayed(10, 0)).toMatchObject({ promoted: 1 });
    const again = await on.claimOne();
    expect(again).toMatchObject({ kind: 'cancel', stageRun: { attempt: 2 } });
  });

  it('CANCEL-4: a body that ends after its run was terminated gets none', async (on) => {
    const live = await on.startAndClaim();
    await on.cancel(live.run.id, { run: { to: 'CANCELLED', reason: null, terminated: true } });
    await on.store.addCancelJob(leaseOf(live), newId(), 'default');
    expect(await on.isAnythingDue()).toBe(false);
  });

  it('LEASE-5: only the holder of the token ends a hook', async (on) => {
    const { live, hook } = await claimHook(on);
    const stale = { ...leaseOf(hook), token: live.token };
    expect(await on.store.finishCancelJob(stale, null)).toBe(false);
    expect(await on.store.finishCancelJob(stale, 1_000)).toBe(false);
    expect(await on.store.extendLeases([leaseOf(hook)])).toEqual(new Map([[hook.jobId, 'held']]));
  });

  it('LEASE-3: a hook whose worker is gone is called by another one', async (on) => {
    const { live, hook } = await claimHook(on);
    const expired = await on.expire(hook);
    expect(expired).toMatchObject({ kind: 'cancel', stageRunId: live.stageRun.id, workerId: 'worker-b' });
    expect(await on.store.reap([lostRecord(expired, { outcome: lost() })], LIMITS, NEVER)).toBe(1);
    expect(await on.claimOne()).toMatchObject({ kind: 'cancel', stageRun: { attempt: 2 } });
    expect(await on.statuses(live.run.id)).toEqual(['first CANCELLED']);
  });

  it('FAULT C4: an old look at the lease of a hook does not end the next try of it', async (on) => {
    const { hook } = await claimHook(on);
    const record = lostRecord(await on.expire(hook));
    await on.store.reap([record], LIMITS, NEVER);
    const again = await on.claimOne();
    await on.expire(again);
    expect(await on.store.reap([record], LIMITS, NEVER)).toBe(0);
    expect(await on.store.extendLeases([leaseOf(again)])).toEqual(new Map([[again.jobId, 'held']]));
  });

  it('CANCEL-3: a body that ends after the cancel has its hook called', async (on) => {
    const live = await on.startAndClaim();
    await on.cancel(live.run.id);
    const jobId = newId();
    await on.store.addCancelJob(leaseOf(live), jobId, 'default');
    expect(await on.claimOne()).toMatchObject({ kind: 'cancel', jobId, stageRun: { id: live.stageRun.id } });
  });

  it('CANCEL-3: asked for twice while it waits, a hook is called once', async (on) => {
    const live = await on.startAndClaim();
    await on.cancel(live.run.id, { cancelJobs: [{ stageRunId: live.stageRun.id, job: newJob() }] });
    await on.store.addCancelJob(leaseOf(live), newId(), 'default');
    expect((await on.claim()).claimed).toHaveLength(1);
  });

  it('CANCEL-3: a stage run that is not cancelled gets no hook', async (on) => {
    const live = await on.startAndClaim();
    await on.store.addCancelJob(leaseOf(live), newId(), 'default');
    await on.store.record([linear(live, { transition: followedBy() })]);
    await on.store.addCancelJob(leaseOf(live), newId(), 'default');
    const { claimed, discarded } = await on.claim();
    expect(claimed.map(({ kind }) => kind)).toEqual(['execute']);
    expect(discarded).toEqual([]);
  });
}
