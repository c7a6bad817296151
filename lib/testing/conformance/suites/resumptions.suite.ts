import type { ClaimedJob, NewRun } from '../../../engine/ports/index.js';
import {
  failed,
  failing,
  group,
  joined,
  leaseOf,
  linear,
  newJob,
  newStageRun,
  newTransition,
  released,
  retrying,
} from '../builders.js';
import { eventWait, signalWait, sleep, suspending } from '../step-builders.js';
import { LIMITS } from '../store-under-test.js';
import type { StoreSuite } from '../suite.js';

const DAY_MS = 86_400_000;

/** Stages that go on after a wait: as the attempt that they were, in the queue that they had. */
export function describeResumptions({ it, expect }: StoreSuite): void {
  it('RETRY-4: what goes on after a wait is the attempt that it was, and is not told to start again', async (on) => {
    const job = await on.startAndClaim();
    await on.store.record([linear(job, { outcome: retrying() })]);
    const second = await on.claimAgain(job);
    await on.suspend(suspending(second, [sleep('nap', 60_000)]));
    on.travel(61_000);
    await on.fire();
    expect(await on.stageRun(job.run.id, 'first')).toMatchObject({ status: 'PENDING', attempt: 2 });
    const again = await on.claimAgain(job);
    expect(second.stageRun).toMatchObject({ attempt: 2, resumed: false });
    expect(again.stageRun).toMatchObject({ id: job.stageRun.id, attempt: 2, hasLedger: true, resumed: true });
    expect(new Set([job.token, second.token, again.token]).size).toBe(3);
    expect(await on.eventTypes(job.run.id)).toEqual(['stage:started', 'stage:started']);
    expect(await on.store.record([linear(again)])).toMatchObject([{ finished: { status: 'COMPLETED' } }]);
  });

  it('RETRY-4: the failure of what went on is an attempt used up', async (on) => {
    const job = await on.startAndClaim();
    await on.suspend(suspending(job, [sleep('nap', 60_000)]));
    on.travel(61_000);
    await on.fire();
    const again = await on.claimAgain(job);
    await on.store.record([linear(again, { outcome: retrying() })]);
    const retried = await on.claimAgain(job);
    expect(retried.stageRun).toMatchObject({ attempt: 2, resumed: false });
    expect(await on.step(job, 'nap')).toMatchObject({ status: 'completed' });
    expect((await on.history(job.run.id)).attempts).toMatchObject([{ attempt: 1 }]);
  });

  it('LEASE-6: what went on and is handed back keeps its number', async (on) => {
    const job = await on.startAndClaim();
    await on.suspend(suspending(job, [sleep('nap', 60_000)]));
    on.travel(61_000);
    await on.fire();
    await on.store.record([linear(await on.claimAgain(job), { outcome: released() })]);
    expect((await on.claimAgain(job)).stageRun.attempt).toBe(1);
  });

  it('RETRY-5: a stage reopened by hand is a new attempt, though it was about to go on', async (on) => {
    await on.start({ transition: group(['left', 'right']) });
    const { claimed } = await on.claim();
    const [left, right] = claimed;
    if (left === undefined || right === undefined) throw new Error('Two branches were due.');
    await on.suspend(suspending(left, [sleep('nap', 60_000)]));
    on.travel(61_000);
    await on.fire();
    await on.settle([joined(right, { outcome: failed() })], () => failing());
    const reopened = [{ id: left.stageRun.id, job: newJob() }];
    await on.change(left.run.id, newTransition({ run: { to: 'RUNNING' }, reopened }));
    expect((await on.claimAgain(left)).stageRun).toMatchObject({ attempt: 2, budgetFrom: 1 });
  });

  it('RETRY-5: beside stages reopened by hand others begin', async (on) => {
    const job = await on.startAndClaim();
    await on.settle([joined(job, { outcome: failed() })], () => failing());
    const reopened = [{ id: job.stageRun.id, job: newJob() }];
    const stageRuns = [newStageRun({ key: 'other', ordinal: 2 })];
    await on.change(job.run.id, newTransition({ run: { to: 'RUNNING' }, reopened, stageRuns }));
    const { claimed } = await on.claim();
    expect(claimed.map(({ stageRun }) => [stageRun.key, stageRun.attempt]).sort()).toEqual([
      [job.stageRun.key, 2],
      ['other', 1],
    ]);
  });

  it('RUN-6: what goes on stands in the queue, and where its run stands in it', async (on) => {
    const stageRuns = [newStageRun({ job: newJob({ queue: 'mail' }) })];
    const job = await on.startAndClaim({ priority: 3, transition: newTransition({ stageRuns }) });
    on.travel(60_000);
    await on.suspend(suspending(job, [sleep('nap', 60_000)]));
    const mail = (given: Partial<NewRun>) =>
      on.start({
        ...given,
        transition: newTransition({ stageRuns: [newStageRun({ job: newJob({ queue: 'mail' }) })] }),
      });
    const urgent = await mail({ priority: 4 });
    const younger = await mail({ priority: 3 });
    on.travel(61_000);
    await on.fire();
    expect((await on.claim({ queues: ['default'] })).claimed).toEqual([]);
    const order = (await on.claim({ queues: ['mail'] })).claimed.map(({ run }) => run.id);
    expect(order).toEqual([urgent.id, job.run.id, younger.id]);
  });

  it('LEASE-4: what goes on keeps the cap that its stage has', async (on) => {
    const stageRuns = [newStageRun({ job: newJob({ capMs: 5 * LIMITS.capMs }) })];
    const job = await on.startAndClaim({ transition: newTransition({ stageRuns }) });
    await on.suspend(suspending(job, [sleep('nap', 60_000)]));
    on.travel(61_000);
    await on.fire();
    const again = await on.claimAgain(job);
    on.travel(LIMITS.capMs + 60_000);
    await on.store.extendLeases([leaseOf(again)]);
    expect(await on.store.findExpired(LIMITS, 10)).toEqual([]);
    on.travel(4 * LIMITS.capMs);
    await on.store.extendLeases([leaseOf(again)]);
    expect(await on.store.findExpired(LIMITS, 10)).toMatchObject([{ reason: 'cap' }]);
  });

  it('LEASE-4: the time that a stage sleeps is not running time', async (on) => {
    const job = await on.startAndClaim();
    await on.suspend(suspending(job, [sleep('nap', DAY_MS)]));
    on.travel(DAY_MS + 1_000);
    expect(await on.store.findExpired(LIMITS, 10)).toEqual([]);
    await on.fire();
    await on.claimAgain(job);
    expect(await on.store.findExpired(LIMITS, 10)).toEqual([]);
  });

  it('JOB-5: what goes on is sent as the same attempt, and says how often it went on', async (on) => {
    const job = await on.startAndClaim();
    const claim = (attempt: number) =>
      on.store.claimStageRun(job.stageRun.id, 'worker-a', { kind: 'execute', attempt });
    let current = job;
    for (const resumes of [1, 2]) {
      await on.suspend(suspending(current, [sleep(`nap ${resumes}`, 60_000)]));
      on.travel(61_000);
      await on.fire();
      expect(await on.store.takeUnsent(10)).toMatchObject([{ stageRunId: job.stageRun.id, attempt: 1, resumes }]);
      expect(await claim(2)).toBe('duplicate');
      current = (await claim(1)) as ClaimedJob;
      expect(current.stageRun).toMatchObject({ id: job.stageRun.id, attempt: 1 });
      expect(await claim(1)).toBe('duplicate');
    }
    await on.store.record([linear(current, { outcome: retrying() })]);
    expect(await on.store.takeUnsent(10)).toMatchObject([{ attempt: 2 }]);
  });

  it('STUCK-1: a run that waits is never stuck', async (on) => {
    const [waits, branches] = [await on.startAndClaim(), await on.start({ transition: group(['left', 'right']) })];
    await on.suspend(suspending(waits, [signalWait('approval')]));
    for (const branch of (await on.claim()).claimed) await on.suspend(suspending(branch, [eventWait('event')]));
    on.travel(90 * DAY_MS);
    expect((await on.probe()).stuckSuspects).toBe(false);
    expect((await on.store.findStuck(900_000, null, 10)).runIds).toEqual([]);
    expect(await on.statuses(branches.id)).toEqual(['left SUSPENDED', 'right SUSPENDED']);
  });

  it('STUCK-1: a suspended stage with nothing to wait for is stuck, and goes on when it is queued again', async (on) => {
    const job = await on.startAndClaim();
    await on.suspend(suspending(job, []));
    on.travel(1_000_000);
    expect((await on.probe()).stuckSuspects).toBe(true);
    expect((await on.store.findStuck(900_000, null, 10)).runIds).toEqual([job.run.id]);
    await on.change(job.run.id, newTransition({ requeued: [{ id: job.stageRun.id, job: newJob() }] }));
    expect((await on.stageRun(job.run.id, 'first')).status).toBe('PENDING');
    expect((await on.claimAgain(job)).stageRun.attempt).toBe(1);
  });
}
