import { leaseOf, linear, newRun, newStageRun, newTransition, retrying, startKey } from '../builders.js';
import { LIMITS, type StoreUnderTest } from '../store-under-test.js';
import type { StoreSuite } from '../suite.js';

const STUCK_AFTER_MS = 900_000;

const probe = (on: StoreUnderTest, aheadMs = 0) => on.probe({ stuckAfterMs: STUCK_AFTER_MS, aheadMs });

/** A RUNNING run with a stage run that nothing will ever run. */
const stuckRun = () => newRun({ transition: newTransition({ stageRuns: [newStageRun({ job: null })] }) });

export function describeWakes({ it, expect }: StoreSuite): void {
  it('WAKE-6: a store with nothing to do says so', async (on) => {
    expect(await probe(on)).toEqual({
      expiredLeases: false,
      delayedDue: false,
      nextDelayedInMs: null,
      deadlineDue: false,
      sentOverdue: false,
      outboxDue: false,
      stuckSuspects: false,
      waitsDue: false,
      nextWaitInMs: null,
      schedulesDue: false,
      nextScheduleInMs: null,
      eventWaitsOverdue: false,
      unmatched: false,
      childrenEnded: false,
      orphans: false,
      expiredEvents: false,
      expiredKeys: false,
    });
  });

  it('WAKE-6: work that is due for workers is not work for a wake pass', async (on) => {
    await on.start({ idempotency: startKey('k'), deadlineMs: 3_600_000 });
    await on.start({ delayMs: 60_000 });
    expect(await probe(on)).toMatchObject({
      expiredLeases: false,
      delayedDue: false,
      deadlineDue: false,
      outboxDue: false,
      stuckSuspects: false,
      expiredKeys: false,
    });
  });

  it('WAKE-6: each part that has work is told', async (on) => {
    const job = await on.startAndClaim({ idempotency: startKey('k', { ttlMs: 60_000 }), deadlineMs: 60_000 });
    await on.start({ delayMs: 60_000 });
    expect((await probe(on)).outboxDue).toBe(true);
    on.travel(60_001);
    expect(await probe(on)).toMatchObject({
      delayedDue: true,
      deadlineDue: true,
      expiredKeys: true,
      expiredLeases: false,
    });
    on.travel(LIMITS.staleMs);
    expect((await probe(on)).expiredLeases).toBe(true);
    await on.store.extendLeases([leaseOf(job)]);
    expect((await probe(on)).expiredLeases).toBe(false);
  });

  it('STUCK-1: a probe sees that a run may be stuck', async (on) => {
    await on.store.createRuns([stuckRun()]);
    on.travel(STUCK_AFTER_MS + 1_000);
    expect((await probe(on)).stuckSuspects).toBe(true);
  });

  it('WAKE-6: a probe knows how long it is until the next delayed job', async (on) => {
    await on.store.createRuns([newRun({ delayMs: 120_000 }), newRun({ delayMs: 60_000 })]);
    const { nextDelayedInMs } = await probe(on);
    expect(Math.abs((nextDelayedInMs ?? 0) - 60_000)).toBeLessThanOrEqual(20_000);
  });

  it('FAULT B1: a delay beyond 2^31 ms is a delay', async (on) => {
    const delayMs = 400 * 86_400_000;
    await on.start({ delayMs });
    expect((await probe(on)).delayedDue).toBe(false);
    on.travel(delayMs - 60_000);
    expect(await on.promote()).toBe(0);
    on.travel(60_001);
    expect(await on.promote()).toBe(1);
  });

  it('WAKE-3: delayed jobs are promoted in batches, the longest due first', async (on) => {
    const [late, early] = [newRun({ delayMs: 2_000 }), newRun({ delayMs: 1_000 })];
    await on.store.createRuns([late, early]);
    on.travel(10_000);
    expect(await on.store.promoteDelayed(1, 0)).toMatchObject({ promoted: 1 });
    expect((await on.claimOne()).run.id).toBe(early.id);
    expect(await on.store.promoteDelayed(1, 0)).toMatchObject({ promoted: 1 });
    expect(await on.store.promoteDelayed(1, 0)).toEqual({ promoted: 0, retries: 0, escalations: 0, nextInMs: null });
  });

  it('WAKE-2: of the promoted jobs those are retries that have been tried', async (on) => {
    const job = await on.startAndClaim();
    await on.store.record([linear(job, { outcome: retrying(60_000) })]);
    await on.start({ delayMs: 60_000 });
    on.travel(60_001);
    expect(await on.store.promoteDelayed(10, 0)).toMatchObject({ promoted: 2, retries: 1 });
  });

  it('WAKE-6: promoting says how long it is until the next one', async (on) => {
    await on.store.createRuns([newRun({ delayMs: 1_000 }), newRun({ delayMs: 61_000 })]);
    on.travel(1_001);
    const { promoted, nextInMs } = await on.store.promoteDelayed(10, 0);
    expect(promoted).toBe(1);
    expect(Math.abs((nextInMs ?? 0) - 60_000)).toBeLessThanOrEqual(20_000);
  });

  it('WAKE-3: two processes that promote at once promote each job once', async (on) => {
    await on.store.createRuns(Array.from({ length: 20 }, () => newRun({ delayMs: 1_000 })));
    on.travel(1_001);
    const results = await Promise.all([on.store.promoteDelayed(50, 0), on.second.promoteDelayed(50, 0)]);
    const late = await on.store.promoteDelayed(50, 0);
    expect([...results, late].reduce((sum, { promoted }) => sum + promoted, 0)).toBe(20);
    expect((await on.claim()).claimed).toHaveLength(20);
  });

  it('WAKE-5: a wake ahead of the clock promotes what is due by then, and it runs in that pass', async (on) => {
    const job = await on.startAndClaim();
    await on.store.record([linear(job, { outcome: retrying(3_600_000) })]);
    expect((await probe(on, 3_600_001)).delayedDue).toBe(true);
    expect(await on.store.promoteDelayed(10, 3_600_001)).toMatchObject({ promoted: 1, retries: 1 });
    expect((await on.claimOne()).stageRun.attempt).toBe(2);
  });

  it('WAKE-5: a wake ahead of the clock moves deadlines, but neither leases nor keys nor stuck runs', async (on) => {
    const run = await on.start({ deadlineMs: 3_600_000, idempotency: startKey('k', { ttlMs: 60_000 }) });
    await on.store.createRuns([stuckRun()]);
    await on.claim();
    const ahead = 8 * 3_600_000;
    expect(await probe(on, ahead)).toMatchObject({
      deadlineDue: true,
      expiredLeases: false,
      expiredKeys: false,
      stuckSuspects: false,
    });
    expect(await on.store.findOverdue(10, ahead)).toEqual([{ runId: run.id }]);
  });

  it('CANCEL-4: overdue runs are found, the oldest deadline first, while they have not ended', async (on) => {
    const [late, early, ended, pending] = [
      newRun({ deadlineMs: 2_000 }),
      newRun({ deadlineMs: 1_000 }),
      newRun({ deadlineMs: 1_000 }),
      newRun({ deadlineMs: 2_000, delayMs: 1_500 }),
    ];
    await on.store.createRuns([late, early, ended, pending, newRun()]);
    await on.cancel(ended.id);
    on.travel(10_000);
    expect(await on.store.findOverdue(10, 0)).toEqual([early, late, pending].map(({ id }) => ({ runId: id })));
    expect(await on.store.findOverdue(1, 0)).toEqual([{ runId: early.id }]);
  });

  it('STUCK-1: a RUNNING run without a job that has not moved for long is suspect', async (on) => {
    const stuck = stuckRun();
    await on.store.createRuns([stuck]);
    on.travel(STUCK_AFTER_MS - 10_000);
    expect((await on.store.findStuck(STUCK_AFTER_MS, null, 10)).runIds).toEqual([]);
    on.travel(20_000);
    expect(await on.store.findStuck(STUCK_AFTER_MS, null, 10)).toEqual({ runIds: [stuck.id], next: null });
  });

  it('STUCK-1: a run that has a job, waits for its start, or has ended is not', async (on) => {
    const ended = stuckRun();
    const waiting = { ...stuckRun(), delayMs: 10 * STUCK_AFTER_MS };
    await on.store.createRuns([newRun(), newRun({ delayMs: 10 * STUCK_AFTER_MS }), waiting, ended]);
    await on.cancel(ended.id);
    const held = await on.startAndClaim();
    const retried = await on.startAndClaim();
    await on.store.record([linear(retried, { outcome: retrying(10 * STUCK_AFTER_MS) })]);
    on.travel(STUCK_AFTER_MS + 1_000);
    await on.store.extendLeases([leaseOf(held)]);
    expect((await on.store.findStuck(STUCK_AFTER_MS, null, 100)).runIds).toEqual([]);
  });

  it('STUCK-1: the search goes through the unfinished runs a slice at a time, and round', async (on) => {
    const [one, two, three] = [stuckRun(), stuckRun(), stuckRun()];
    await on.store.createRuns([one, newRun(), two, newRun(), three]);
    on.travel(STUCK_AFTER_MS + 1_000);
    const found: (readonly string[])[] = [];
    let after: string | null = null;
    for (let slice = 0; slice < 4; slice++) {
      const page: { runIds: readonly string[]; next: string | null } = await on.store.findStuck(
        STUCK_AFTER_MS,
        after,
        2,
      );
      found.push(page.runIds);
      after = page.next;
      if (after === null) break;
    }
    expect(after).toBeNull();
    expect(found).toEqual([[one.id, two.id], [three.id], []]);
  });

  it('IDEM-2: keys whose time is over are pruned in batches, living ones kept', async (on) => {
    const keyed = (key: string, ttlMs: number) => newRun({ idempotency: startKey(key, { ttlMs }) });
    await on.store.createRuns([keyed('a', 1_000), keyed('b', 1_000), keyed('c', 1_000), keyed('d', 86_400_000)]);
    on.travel(1_001);
    expect(await on.store.pruneKeys(2)).toBe(2);
    expect(await on.store.pruneKeys(2)).toBe(1);
    expect(await on.store.pruneKeys(2)).toBe(0);
    const [living] = await on.store.createRuns([keyed('d', 1_000)]);
    expect(living?.created).toBe(false);
  });

  it('WAKE-5: the clock of a store is one clock plus its offset', async (on) => {
    const before = Date.parse(await on.store.now());
    on.travel(86_400_000);
    const after = Date.parse(await on.store.now());
    expect(Math.abs(after - before - 86_400_000)).toBeLessThanOrEqual(20_000);
    const run = await on.start();
    expect(Math.abs(Date.parse((await on.run(run.id)).createdAt) - after)).toBeLessThanOrEqual(20_000);
  });
}
