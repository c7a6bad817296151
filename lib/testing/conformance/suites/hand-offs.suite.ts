import type { ClaimedJob, LinearRecord } from '../../../engine/ports/index.js';
import {
  completed,
  ending,
  followedBy,
  group,
  leaseOf,
  linear,
  newId,
  newJob,
  newStageRun,
  newTransition,
  released,
} from '../builders.js';
import { LIMITS, rejection } from '../store-under-test.js';
import type { StoreSuite } from '../suite.js';

/** A record that offers to go on with the stage that follows. */
function offering(job: ClaimedJob, given: Partial<LinearRecord> = {}): LinearRecord & { readonly token: string } {
  const token = newId();
  const handOff = { token, workerId: 'worker-a', queues: null };
  return { ...linear(job, { transition: followedBy(), handOff, ...given }), token };
}

export function describeHandOffs({ it, expect }: StoreSuite): void {
  it('LEASE-1: a hand-off claims the next stage for this worker under the token it proposed', async (on) => {
    const job = await on.startAndClaim();
    const record = offering(job);
    expect(await on.store.record([record])).toEqual([{ verdict: 'recorded', handedOff: true, finished: null }]);
    const second = await on.stageRun(job.run.id, 'second');
    expect(second).toMatchObject({ status: 'RUNNING', attempt: 1 });
    expect(second.startedAt).not.toBeNull();
    expect(await on.store.readFences([second.id])).toMatchObject([{ token: record.token }]);
    expect(await on.isAnythingDue()).toBe(false);
  });

  it('LEASE-5: what was handed off is recorded under its token and the job it came with', async (on) => {
    const job = await on.startAndClaim();
    const { token, transition } = offering(job);
    const handOff = { token, workerId: 'worker-a', queues: null };
    await on.store.record([linear(job, { transition, handOff })]);
    const lease = { ...leaseOf(job), stageRunId: transition?.stageRuns[0]?.id ?? '', token };
    expect(await on.store.extendLeases([lease])).toEqual(new Map([[job.jobId, 'held']]));
    expect(await on.store.record([linear(job, { lease })])).toMatchObject([
      { verdict: 'recorded', finished: { status: 'COMPLETED' } },
    ]);
    expect(await on.statuses(job.run.id)).toEqual(['first COMPLETED', 'second COMPLETED']);
  });

  it('EVT-1: a hand-off tells stage:started after what it follows', async (on) => {
    const job = await on.startAndClaim();
    const transition = followedBy();
    await on.store.record([offering(job, { transition, events: [{ type: 'stage:completed' }] })]);
    const events = await on.events(job.run.id);
    expect(events.map(({ type }) => type)).toEqual(['stage:started', 'stage:completed', 'stage:started']);
    expect(events[2]).toMatchObject({
      stageRunId: transition.stageRuns[0]?.id,
      node: 'second',
      stage: 'second-stage',
      data: { attempt: 1 },
    });
  });

  it('EVT-1: without a hand-off the next stage:started is told by its claim', async (on) => {
    const job = await on.startAndClaim();
    await on.store.record([linear(job, { transition: followedBy() })]);
    expect(await on.eventTypes(job.run.id)).toEqual(['stage:started']);
    await on.claimOne();
    expect(await on.eventTypes(job.run.id)).toEqual(['stage:started', 'stage:started']);
  });

  it('LEASE-4: a hand-off begins a lease of its own', async (on) => {
    const job = await on.startAndClaim();
    on.travel(LIMITS.capMs - 60_000);
    await on.store.extendLeases([leaseOf(job)]);
    await on.store.record([offering(job)]);
    on.travel(120_000);
    expect(await on.store.findExpired(LIMITS, 10)).toEqual([]);
  });

  it('RUN-6: nothing is handed off while a job of higher priority is due', async (on) => {
    const job = await on.startAndClaim();
    const urgent = await on.start({ priority: 1 });
    expect(await on.store.record([offering(job)])).toMatchObject([{ verdict: 'recorded', handedOff: false }]);
    const order = [await on.claimOne(), await on.claimOne()];
    expect(order.map(({ run }) => run.id)).toEqual([urgent.id, job.run.id]);
  });

  it('RUN-6: nothing is handed off while an older job is due', async (on) => {
    const older = await on.startAndClaim();
    on.travel(1_000);
    const younger = await on.startAndClaim();
    await on.store.record([linear(older, { outcome: released() })]);
    expect(await on.store.record([offering(younger)])).toMatchObject([{ verdict: 'recorded', handedOff: false }]);
    const order = [await on.claimOne(), await on.claimOne()];
    expect(order.map(({ run }) => run.id)).toEqual([older.run.id, younger.run.id]);
  });

  it('RUN-6: a younger job that is due does not stop a hand-off', async (on) => {
    const job = await on.startAndClaim();
    on.travel(1_000);
    await on.start();
    expect(await on.store.record([offering(job)])).toMatchObject([{ handedOff: true }]);
  });

  it('RUN-6: a delayed job does not stop a hand-off', async (on) => {
    const job = await on.startAndClaim();
    await on.start({ priority: 9, delayMs: 60_000 });
    expect(await on.store.record([offering(job)])).toMatchObject([{ handedOff: true }]);
  });

  it('RUN-6: a stage of a queue that this worker does not serve goes back to the queue', async (on) => {
    const job = await on.startAndClaim();
    const transition = followedBy({ job: newJob({ queue: 'mail' }) });
    const handOff = { token: newId(), workerId: 'worker-a', queues: ['default'] };
    expect(await on.store.record([linear(job, { transition, handOff })])).toMatchObject([{ handedOff: false }]);
    expect((await on.claim({ queues: ['default'] })).claimed).toHaveLength(0);
    expect((await on.claimOne({ queues: ['mail'] })).run.id).toBe(job.run.id);
  });

  it('RUN-6: a due job of a queue that this worker does not serve does not stop a hand-off', async (on) => {
    const job = await on.startAndClaim();
    const mail = newStageRun({ job: newJob({ queue: 'mail' }) });
    await on.start({ priority: 9, transition: newTransition({ stageRuns: [mail] }) });
    const handOff = { token: newId(), workerId: 'worker-a', queues: ['default'] };
    expect(await on.store.record([linear(job, { transition: followedBy(), handOff })])).toMatchObject([
      { handedOff: true },
    ]);
  });

  it('LEASE-5: what is not fenced hands nothing off', async (on) => {
    const job = await on.startAndClaim();
    const record = offering(job, { lease: { ...leaseOf(job), token: newId() } });
    expect(await on.store.record([record])).toEqual([{ verdict: 'not-fenced' }]);
    expect(await on.statuses(job.run.id)).toEqual(['first RUNNING']);
  });

  it('RUN-8: a hand-off is taken back with the call that it was part of', async (on) => {
    const [job, other] = [await on.startAndClaim(), await on.startAndClaim()];
    const bad = linear(other, { transition: followedBy({ id: other.stageRun.id }) });
    const before = await on.history(job.run.id);
    const error = await rejection(on.store.record([offering(job), bad]));
    expect(on.store.isDataError(error)).toBe(true);
    expect(await on.history(job.run.id)).toEqual(before);
    expect(await on.store.extendLeases([leaseOf(job)])).toEqual(new Map([[job.jobId, 'held']]));
    expect(await on.store.record([offering(job)])).toMatchObject([{ verdict: 'recorded', handedOff: true }]);
  });

  it('GRP-1: a group is not handed off', async (on) => {
    const job = await on.startAndClaim();
    const transition = group(['left', 'right'], { after: 1 });
    expect(await on.store.record([offering(job, { transition })])).toMatchObject([{ handedOff: false }]);
    expect((await on.claim()).claimed).toHaveLength(2);
  });

  it('RUN-8: an end is not handed off', async (on) => {
    const job = await on.startAndClaim();
    const record = offering(job, { outcome: completed(), transition: ending() });
    expect(await on.store.record([record])).toMatchObject([{ handedOff: false, finished: { status: 'COMPLETED' } }]);
  });
}
