import type { ClaimedJob } from '../../../engine/ports/index.js';
import { cancelling, leaseOf, linear, newRun, parentOf } from '../builders.js';
import {
  awaiting,
  begin,
  childWait,
  eventWait,
  finish,
  newSignal,
  newWait,
  signalWait,
  sleep,
  suspending,
} from '../step-builders.js';
import { EVERYBODY, LIMITS, type StoreUnderTest } from '../store-under-test.js';
import type { StoreSuite } from '../suite.js';

/** Suspends a new run until these sleeps are over. */
async function asleep(on: StoreUnderTest, ...milliseconds: readonly number[]): Promise<ClaimedJob> {
  const job = await on.startAndClaim();
  await on.suspend(
    suspending(
      job,
      milliseconds.map((ms, nr) => sleep(`nap ${nr}`, ms)),
    ),
  );
  return job;
}

/** Waits that time ends. */
export function describeFiredWaits({ it, expect }: StoreSuite): void {
  it('WAIT-1: a sleep that is over resumes its stage, not before', async (on) => {
    const job = await asleep(on, 60_000);
    on.travel(40_000);
    expect(await on.fire()).toMatchObject({ timers: 0, resumed: 0, more: false });
    expect(await on.isAnythingDue()).toBe(false);
    on.travel(21_000);
    expect(await on.fire()).toEqual({
      timers: 1,
      timeouts: 0,
      polls: 0,
      retries: 0,
      resumed: 1,
      ended: 1,
      nextInMs: null,
      more: false,
    });
    expect(await on.step(job, 'nap 0')).toMatchObject({
      status: 'completed',
      timedOut: false,
      seq: null,
      failure: null,
    });
    await on.claimAgain(job);
    expect(await on.fire()).toMatchObject({ timers: 0, resumed: 0 });
  });

  it('WAKE-2: what came due is counted by what it was', async (on) => {
    const job = await on.startAndClaim();
    await on.write(begin(job, 'fetch'));
    await on.write(finish(job, 'fetch', { seq: null, outcome: { kind: 'again', failure: '{}', delayMs: 1_000 } }));
    const waits = [
      sleep('nap', 1_000),
      newWait('poll', { kind: 'poll', due: { inMs: 1_000 }, dueIfNew: false }),
      newWait('check', { kind: 'completion', due: { inMs: 1_000 }, dueIfNew: false }),
      signalWait('signal', { expiresInMs: 1_000 }),
      childWait('child', newRun().id, { expiresInMs: 1_000 }),
      eventWait('event', { expiresInMs: 1_000 }),
    ];
    await on.suspend(suspending(job, waits, { keep: ['fetch', ...waits.map(({ key }) => key)] }));
    on.travel(2_000);
    expect(await on.fire()).toMatchObject({ timers: 1, timeouts: 2, polls: 2, retries: 1, resumed: 1, more: false });
    const rows = new Map((await on.ledger(job)).map((row) => [row.key, row]));
    expect(rows.get('fetch')).toMatchObject({ status: 'ready' });
    expect(rows.get('nap')).toMatchObject({ status: 'completed', timedOut: false });
    expect(rows.get('poll')).toMatchObject({ status: 'ready' });
    expect(rows.get('check')).toMatchObject({ status: 'ready' });
    expect(rows.get('signal')).toMatchObject({ status: 'completed', timedOut: true });
    expect(rows.get('child')).toMatchObject({ status: 'completed', timedOut: true });
    // What lies there for it is to be matched first.
    expect(rows.get('event')).toMatchObject({ status: 'waiting' });
    expect((await on.claim()).claimed).toHaveLength(1);
  });

  it('WAKE-3: two timers of one stage that come due together make one job', async (on) => {
    const job = await asleep(on, 1_000, 2_000);
    on.travel(3_000);
    expect(await on.fire()).toMatchObject({ timers: 2, resumed: 1 });
    expect((await on.claim()).claimed).toHaveLength(1);
    expect((await on.ledger(job)).map(({ status }) => status)).toEqual(['completed', 'completed']);
  });

  it('STEP-2: outcomes that come in one pass stand in the order in which they were due', async (on) => {
    const job = await on.startAndClaim();
    await on.suspend(suspending(job, [sleep('a', 3_000), sleep('c', 1_000), sleep('b', 2_000)]));
    on.travel(10_000);
    expect(await on.fire()).toMatchObject({ timers: 3, resumed: 1 });
    expect((await on.ledger(job)).map(({ key }) => key)).toEqual(['c', 'b', 'a']);
  });

  it('WAKE-3: a timer of a stage that goes on already is only marked', async (on) => {
    const job = await asleep(on, 1_000, 120_000);
    on.travel(2_000);
    await on.fire();
    on.travel(120_000);
    expect(await on.fire()).toMatchObject({ timers: 1, resumed: 0 });
    expect((await on.claim()).claimed).toHaveLength(1);
    expect((await on.ledger(job)).map(({ status }) => status)).toEqual(['completed', 'completed']);
  });

  it('WAKE-3: waits are fired in pages, the longest due first', async (on) => {
    const late = await asleep(on, 3_000);
    const early = await asleep(on, 1_000);
    const middle = await asleep(on, 2_000);
    on.travel(10_000);
    expect(await on.store.fireDue(2, 0)).toMatchObject({ timers: 2, resumed: 2, more: true });
    const first = (await on.claim()).claimed.map(({ run }) => run.id);
    expect(first.sort()).toEqual([early.run.id, middle.run.id].sort());
    expect(await on.store.fireDue(2, 0)).toMatchObject({ timers: 1, resumed: 1, more: false });
    await on.claimAgain(late);
    expect(await on.store.fireDue(2, 0)).toMatchObject({ timers: 0, resumed: 0, more: false });
  });

  it('WAKE-3: two processes that fire at once fire each wait once', async (on) => {
    for (let nr = 0; nr < 20; nr++) await asleep(on, 1_000);
    on.travel(2_000);
    const passes = await Promise.all([on.store.fireDue(50, 0), on.second.fireDue(50, 0)]);
    passes.push(await on.fire());
    expect(passes.reduce((sum, { timers }) => sum + timers, 0)).toBe(20);
    expect(passes.reduce((sum, { resumed }) => sum + resumed, 0)).toBe(20);
    expect((await on.claim()).claimed).toHaveLength(20);
  });

  it('WAKE-3: waits of a run that has ended keep nobody from the page', async (on) => {
    const ended = await asleep(on, 1_000);
    const waits = await asleep(on, 2_000);
    await on.change(ended.run.id, cancelling({ cancelOpen: false }));
    on.travel(10_000);
    const first = await on.store.fireDue(1, 0);
    const second = await on.store.fireDue(1, 0);
    expect([first.resumed, second.resumed]).toEqual([0, 1]);
    expect(await on.step(ended, 'nap 0')).toMatchObject({ status: 'cancelled' });
    await on.claimAgain(waits);
  });

  it('WAKE-5: a pass ahead of the clock fires what is due then, and moves no lease', async (on) => {
    const job = await asleep(on, 3_600_000);
    const live = await on.startAndClaim();
    await on.write(begin(live, 'fetch', { leaseMs: 60_000 }));
    expect(await on.probe({ aheadMs: 3_500_000 })).toMatchObject({ waitsDue: false });
    expect(await on.probe({ aheadMs: 3_700_000 })).toMatchObject({ waitsDue: true, expiredLeases: false });
    expect(await on.fire(3_500_000)).toMatchObject({ timers: 0 });
    expect(await on.fire(3_700_000)).toMatchObject({ timers: 1, resumed: 1 });
    await on.claimAgain(job);
    expect((await on.step(live, 'fetch')).leaseInMs ?? 0).toBeGreaterThan(30_000);
    expect(await on.store.findExpired(LIMITS, 10)).toEqual([]);
    expect(await on.store.extendLeases([leaseOf(live)])).toEqual(new Map([[live.jobId, 'held']]));
  });

  it('WAKE-6: a probe knows what is due, and when the next wait is, limits of waits for events included', async (on) => {
    expect(await on.probe()).toMatchObject({ waitsDue: false, nextWaitInMs: null, eventWaitsOverdue: false });
    await asleep(on, 600_000);
    const job = await on.startAndClaim();
    await on.suspend(suspending(job, [signalWait('forever'), eventWait('event', { expiresInMs: 120_000 })]));
    const before = await on.probe();
    expect(before).toMatchObject({ waitsDue: false, eventWaitsOverdue: false, stuckSuspects: false });
    expect(Math.abs((before.nextWaitInMs ?? 0) - 120_000)).toBeLessThanOrEqual(20_000);
    on.travel(121_000);
    const at = await on.probe();
    expect(at).toMatchObject({ waitsDue: false, eventWaitsOverdue: true });
    on.travel(500_000);
    expect(await on.probe()).toMatchObject({ waitsDue: true, eventWaitsOverdue: true });
  });

  it('WAKE-6: a pass knows when the next wait is due', async (on) => {
    await asleep(on, 1_000);
    await asleep(on, 120_000);
    on.travel(2_000);
    const { nextInMs } = await on.fire();
    expect(Math.abs((nextInMs ?? 0) - 118_000)).toBeLessThanOrEqual(20_000);
  });

  it('WAKE-6: so it does when the next one is the limit of a wait for an event', async (on) => {
    await asleep(on, 1_000);
    await asleep(on, 600_000);
    const job = await on.startAndClaim();
    await on.suspend(suspending(job, [eventWait('event', { expiresInMs: 120_000 })]));
    on.travel(2_000);
    const { nextInMs } = await on.fire();
    expect(Math.abs((nextInMs ?? 0) - 118_000)).toBeLessThanOrEqual(20_000);
  });

  it('WAIT-3: a child that ended after the limit of its wait is too late for it', async (on) => {
    const job = await on.startAndClaim();
    const child = await on.startAndClaim({ parent: parentOf(job, { waits: false }) });
    await on.suspend(suspending(job, [childWait('child', child.run.id, { expiresInMs: 60_000 })]));
    on.travel(61_000);
    await on.store.record([linear(child)]);
    expect(await on.fire()).toMatchObject({ timeouts: 1, resumed: 1 });
    expect(await on.step(job, 'child')).toMatchObject({ status: 'completed', timedOut: true });
  });

  it('FAULT B7: sleeps of a millisecond are none of them lost', async (on) => {
    const jobs: ClaimedJob[] = [];
    for (let nr = 0; nr < 10; nr++) jobs.push(await asleep(on, 1));
    on.travel(1_000);
    expect(await on.fire()).toMatchObject({ timers: 10, resumed: 10 });
    expect((await on.claim()).claimed).toHaveLength(jobs.length);
  });

  it('WAIT-3: a signal that lay there before the limit wins over it', async (on) => {
    const job = await on.startAndClaim();
    await on.store.sendSignal(newSignal({ payload: '"yes"' }), job.run.id, EVERYBODY);
    await on.write(begin(job, 'work'), awaiting(job, [signalWait('approval', { expiresInMs: 60_000 })]));
    on.travel(61_000);
    await on.store.extendLeases([leaseOf(job)]);
    await on.fire();
    expect(await on.step(job, 'approval')).toMatchObject({ status: 'completed', timedOut: false, result: '"yes"' });
  });

  it('WAIT-3: a child that ended before the limit of its wait wins over it', async (on) => {
    const job = await on.startAndClaim();
    const parent = { runId: job.run.id, stageRunId: job.stageRun.id, key: 'child', waits: true, depth: 1 };
    const child = await on.startAndClaim({ parent });
    await on.suspend(suspending(job, [childWait('child', child.run.id, { expiresInMs: 60_000 })]));
    await on.store.record([linear(child)]);
    on.travel(61_000);
    await on.fire();
    await on.store.deliverChildren(10);
    expect(await on.step(job, 'child')).toMatchObject({ status: 'completed', timedOut: false, result: '"the end"' });
  });
}
