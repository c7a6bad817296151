import {
  completed,
  failed,
  failing,
  followedBy,
  group,
  joined,
  leaseOf,
  linear,
  lost,
  lostForGood,
  lostRecord,
  newId,
  newJob,
  newRun,
  newStageRun,
  newTransition,
} from '../builders.js';
import { LIMITS } from '../store-under-test.js';
import type { StoreSuite } from '../suite.js';

const NEVER = (): never => {
  throw new Error('Nothing was to be decided.');
};

export function describeLeases({ it, expect }: StoreSuite): void {
  it('LEASE-2: a heartbeat keeps a lease for as long as it comes', async (on) => {
    const job = await on.startAndClaim();
    for (let beat = 0; beat < 4; beat++) {
      on.travel(LIMITS.staleMs - 10_000);
      expect(await on.store.findExpired(LIMITS, 10)).toEqual([]);
      expect(await on.store.extendLeases([leaseOf(job)])).toEqual(new Map([[job.jobId, 'held']]));
    }
  });

  it('LEASE-5: a lease that was reaped is lost, also before somebody claims anew', async (on) => {
    const job = await on.startAndClaim();
    await on.store.reap([lostRecord(await on.expire(job))], LIMITS, NEVER);
    expect(await on.store.extendLeases([leaseOf(job)])).toEqual(new Map([[job.jobId, 'lost']]));
    const owner = await on.claimOne();
    expect(await on.store.extendLeases([leaseOf(job)])).toEqual(new Map([[job.jobId, 'lost']]));
    expect(await on.store.extendLeases([leaseOf(owner)])).toEqual(new Map([[owner.jobId, 'held']]));
  });

  it('CANCEL-2: the heartbeat of a cancelled run says so', async (on) => {
    const job = await on.startAndClaim();
    await on.cancel(job.run.id);
    expect(await on.store.extendLeases([leaseOf(job)])).toEqual(new Map([[job.jobId, 'cancelled']]));
  });

  it('LEASE-2: one call answers for all leases of a worker', async (on) => {
    await on.store.createRuns([newRun(), newRun(), newRun()]);
    const [held, cancelled, stolen] = (await on.claim()).claimed;
    if (!held || !cancelled || !stolen) throw new Error('Three jobs were due.');
    await on.cancel(cancelled.run.id);
    const leases = [leaseOf(held), leaseOf(cancelled), { ...leaseOf(stolen), token: newId() }];
    expect(await on.store.extendLeases(leases)).toEqual(
      new Map([
        [held.jobId, 'held'],
        [cancelled.jobId, 'cancelled'],
        [stolen.jobId, 'lost'],
      ]),
    );
    expect(await on.store.extendLeases([])).toEqual(new Map());
  });

  it('LEASE-3: a lease without a heartbeat is found when it is stale, with what the reaper needs', async (on) => {
    await on.start({ transition: group(['left']) });
    const job = await on.claimOne({ workerId: 'worker-b' });
    on.travel(LIMITS.staleMs - 1_000);
    expect(await on.store.findExpired(LIMITS, 10)).toEqual([]);
    on.travel(2_000);
    expect(await on.store.findExpired(LIMITS, 10)).toEqual([
      {
        ...leaseOf(job),
        kind: 'execute',
        definitionKey: 'documents@1#f1',
        node: 'group',
        key: 'left',
        stage: 'left-stage',
        visit: 1,
        attempt: 1,
        losses: 0,
        workerId: 'worker-b',
        reason: 'stale',
      },
    ]);
  });

  it('LEASE-3: no more expired leases are found than asked for', async (on) => {
    await on.store.createRuns([newRun(), newRun(), newRun()]);
    await on.claim();
    on.travel(LIMITS.staleMs + 1_000);
    expect(await on.store.findExpired(LIMITS, 2)).toHaveLength(2);
  });

  it('LEASE-4: a lease past the absolute cap is found although its heartbeat is healthy', async (on) => {
    const job = await on.startAndClaim();
    on.travel(LIMITS.capMs + 1_000);
    await on.store.extendLeases([leaseOf(job)]);
    expect(await on.store.findExpired(LIMITS, 10)).toMatchObject([{ jobId: job.jobId, reason: 'cap' }]);
  });

  it('LEASE-4: a stale lease whose heartbeats prove more running time than the cap ends at the cap', async (on) => {
    const job = await on.startAndClaim();
    on.travel(LIMITS.capMs + 1_000);
    await on.store.extendLeases([leaseOf(job)]);
    const expired = await on.expire(job);
    expect(expired.reason).toBe('cap');
    expect(await on.store.reap([lostRecord(expired, { outcome: lostForGood() })], LIMITS, () => failing())).toBe(1);
    expect((await on.run(job.run.id)).status).toBe('FAILED');
  });

  it('LEASE-4: a stale lease that proves less is lost, however old: a night without workers is no fault of the stage', async (on) => {
    const job = await on.startAndClaim();
    on.travel(LIMITS.capMs - 1_000);
    await on.store.extendLeases([leaseOf(job)]);
    on.travel(8 * LIMITS.capMs);
    const [expired] = await on.store.findExpired(LIMITS, 10);
    expect(expired?.reason).toBe('stale');
    expect(await on.store.reap([lostRecord(expired!)], LIMITS, NEVER)).toBe(1);
    expect((await on.claimOne()).stageRun.id).toBe(job.stageRun.id);
  });

  it('LEASE-4: a heartbeat that comes after the reaper looked turns no lease past the cap into a requeued one', async (on) => {
    const job = await on.startAndClaim();
    on.travel(LIMITS.capMs - 1_000);
    const lookedAt = await on.expire(job);
    expect(lookedAt.reason).toBe('stale');
    await on.store.extendLeases([leaseOf(job)]);
    expect(await on.store.reap([lostRecord(lookedAt)], LIMITS, NEVER)).toBe(0);
    expect(await on.store.findExpired(LIMITS, 10)).toMatchObject([{ token: job.token, reason: 'cap' }]);
  });

  it('FAULT C2: a cap of the job raises the absolute cap, and never lowers it', async (on) => {
    const long = newStageRun({ job: newJob({ capMs: 3 * LIMITS.capMs }) });
    const short = newStageRun({ job: newJob({ capMs: 1_000 }) });
    const jobs = [
      await on.startAndClaim({ transition: newTransition({ stageRuns: [long] }) }),
      await on.startAndClaim({ transition: newTransition({ stageRuns: [short] }) }),
    ];
    const beat = () => on.store.extendLeases(jobs.map(leaseOf));
    on.travel(LIMITS.capMs - 10_000);
    await beat();
    expect(await on.store.findExpired(LIMITS, 10)).toEqual([]);
    on.travel(LIMITS.capMs);
    await beat();
    expect(await on.store.findExpired(LIMITS, 10)).toMatchObject([{ jobId: jobs[1]?.jobId }]);
    on.travel(LIMITS.capMs + 20_000);
    await beat();
    expect(await on.store.findExpired(LIMITS, 10)).toHaveLength(2);
  });

  it('FAULT C2: an absolute cap of 0 is none', async (on) => {
    const job = await on.startAndClaim();
    on.travel(100 * LIMITS.capMs);
    await on.store.extendLeases([leaseOf(job)]);
    expect(await on.store.findExpired({ ...LIMITS, capMs: 0 }, 10)).toEqual([]);
  });

  it('FAULT C2: the cap of the stage that follows counts, not that of the one before', async (on) => {
    const first = newStageRun({ job: newJob({ capMs: 3 * LIMITS.capMs }) });
    const job = await on.startAndClaim({ transition: newTransition({ stageRuns: [first] }) });
    await on.store.record([linear(job, { transition: followedBy() })]);
    const next = await on.claimOne();
    on.travel(LIMITS.capMs + 1_000);
    await on.store.extendLeases([leaseOf(next)]);
    expect(await on.store.findExpired(LIMITS, 10)).toMatchObject([{ reason: 'cap' }]);
  });

  it('LEASE-3: a lost attempt is queued again at once, its number given out again, its loss counted', async (on) => {
    const job = await on.startAndClaim();
    const expired = await on.expire(job);
    expect(await on.store.reap([lostRecord(expired)], LIMITS, NEVER)).toBe(1);

    expect(await on.stageRun(job.run.id, 'first')).toMatchObject({
      status: 'PENDING',
      attempt: 0,
      losses: 1,
      errorCode: 'LEASE_EXPIRED',
      errorMessage: 'LEASE_HEARTBEAT_LOST: gone.',
    });
    expect((await on.history(job.run.id)).attempts).toMatchObject([
      { stageRunId: job.stageRun.id, attempt: 1, workerId: 'worker-a', code: 'LEASE_EXPIRED' },
    ]);
    const again = await on.claimOne();
    expect(again.stageRun).toMatchObject({ id: job.stageRun.id, attempt: 1 });
    expect(again.token).not.toBe(job.token);
  });

  it('LEASE-3: a further loss waits for its backoff and is counted, too', async (on) => {
    const first = await on.startAndClaim();
    await on.store.reap([lostRecord(await on.expire(first))], LIMITS, NEVER);
    const second = await on.claimOne();
    const expired = await on.expire(second);
    expect(expired.losses).toBe(1);
    await on.store.reap([lostRecord(expired, { outcome: lost(60_000) })], LIMITS, NEVER);
    expect(await on.isAnythingDue()).toBe(false);
    on.travel(60_001);
    await on.promote();
    expect((await on.claimOne()).stageRun.attempt).toBe(1);
    expect((await on.stageRun(first.run.id, 'first')).losses).toBe(2);
  });

  it('LEASE-3: a stage that used up its losses fails its run in the same call', async (on) => {
    await on.start({ transition: group(['left', 'right']) });
    const [job] = (await on.claim()).claimed;
    if (job === undefined) throw new Error('Two jobs were due.');
    const expired = await on.expire(job);
    const asked: unknown[] = [];
    const ended = await on.store.reap(
      [lostRecord(expired, { outcome: lostForGood() })],
      LIMITS,
      (key, _state, events) => {
        for (const event of events) asked.push(key, event.type, 'key' in event ? event.key : undefined);
        return failing();
      },
    );
    expect(ended).toBe(1);
    expect(asked).toEqual(['documents@1#f1', 'stage-failed', job.stageRun.key]);
    expect((await on.run(job.run.id)).status).toBe('FAILED');
    expect((await on.statuses(job.run.id)).map((line) => line.split(' ')[1]).sort()).toEqual(['CANCELLED', 'FAILED']);
    expect(await on.isAnythingDue()).toBe(false);
  });

  it('FAULT C4: a lease that was extended after the reaper looked is left alone', async (on) => {
    const job = await on.startAndClaim();
    const expired = await on.expire(job);
    await on.store.extendLeases([leaseOf(job)]);
    expect(await on.store.reap([lostRecord(expired)], LIMITS, NEVER)).toBe(0);
    expect(await on.store.record([linear(job)])).toMatchObject([{ verdict: 'recorded' }]);
  });

  it('FAULT C4: two reapers that saw the same lease end it once', async (on) => {
    const job = await on.startAndClaim();
    const record = lostRecord(await on.expire(job));
    const counts = await Promise.all([on.store.reap([record], LIMITS, NEVER), on.second.reap([record], LIMITS, NEVER)]);
    const late = await on.store.reap([record], LIMITS, NEVER);
    expect(counts.reduce((sum, count) => sum + count, late)).toBe(1);
    expect((await on.stageRun(job.run.id, 'first')).losses).toBe(1);
    expect((await on.claim()).claimed).toHaveLength(1);
  });

  it('LEASE-3: an attempt that ended before its lease was reaped stays as it ended', async (on) => {
    const job = await on.startAndClaim();
    const expired = await on.expire(job);
    await on.store.record([linear(job, { outcome: completed('1'), transition: followedBy() })]);
    expect(await on.store.reap([lostRecord(expired)], LIMITS, NEVER)).toBe(0);
    expect(await on.statuses(job.run.id)).toEqual(['first COMPLETED', 'second PENDING']);
  });

  it('LEASE-3: nothing is reaped of a run that has ended', async (on) => {
    const job = await on.startAndClaim();
    const expired = await on.expire(job);
    await on.settle([joined(job, { outcome: failed() })], () => failing());
    expect(await on.store.reap([lostRecord(expired)], LIMITS, NEVER)).toBe(0);
    expect(await on.store.findExpired(LIMITS, 10)).toEqual([]);
  });

  it('EVT-1: what the reaper did is told, before what follows', async (on) => {
    const job = await on.startAndClaim();
    const record = lostRecord(await on.expire(job), { outcome: lostForGood(), events: [{ type: 'stage:failed' }] });
    await on.store.reap([record], LIMITS, () => failing());
    expect(await on.eventTypes(job.run.id)).toEqual(['stage:started', 'stage:failed', 'run:failed']);
  });

  it('LEASE-3: no leases are no work', async (on) => {
    expect(await on.store.reap([], LIMITS, NEVER)).toBe(0);
  });
}
