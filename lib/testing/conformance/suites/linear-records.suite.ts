import {
  completed,
  ending,
  failed,
  failing,
  followedBy,
  group,
  joined,
  leaseOf,
  linear,
  newId,
  newRun,
  newStageRun,
  newTransition,
  released,
  retrying,
  skipped,
} from '../builders.js';
import { rejection } from '../store-under-test.js';
import type { StoreSuite } from '../suite.js';

export function describeLinearRecords({ it, expect }: StoreSuite): void {
  it('RUN-8: an output and the stage that follows are stored together', async (on) => {
    const job = await on.startAndClaim();
    const [verdict] = await on.store.record([linear(job, { outcome: completed('1'), transition: followedBy() })]);
    expect(verdict).toEqual({ verdict: 'recorded', handedOff: false, finished: null });
    const { run, stageRuns } = await on.history(job.run.id);
    expect(run.status).toBe('RUNNING');
    expect(stageRuns).toMatchObject([
      { key: 'first', status: 'COMPLETED', output: '1', attempt: 1 },
      { key: 'second', status: 'PENDING', output: null, attempt: 0, ordinal: 2, startedAt: null },
    ]);
    expect(stageRuns[0]?.finishedAt).not.toBeNull();
    expect((await on.claimOne()).stageRun.key).toBe('second');
  });

  it('RUN-8: the end of a run is stored with the last output, and told', async (on) => {
    const job = await on.startAndClaim({ awaited: true });
    const [verdict] = await on.store.record([linear(job, { outcome: completed('1'), transition: ending('2') })]);
    expect(verdict).toEqual({
      verdict: 'recorded',
      handedOff: false,
      finished: { runId: job.run.id, status: 'COMPLETED', awaited: true },
    });
    expect(await on.run(job.run.id)).toMatchObject({ status: 'COMPLETED', output: '2' });
    expect((await on.run(job.run.id)).finishedAt).not.toBeNull();
    expect((await on.stageRun(job.run.id, 'first')).output).toBe('1');
    expect(await on.isAnythingDue()).toBe(false);
    expect(await on.store.extendLeases([leaseOf(job)])).toEqual(new Map([[job.jobId, 'lost']]));
  });

  it('RUN-4: the end of a run nobody awaits says so', async (on) => {
    const job = await on.startAndClaim();
    const [verdict] = await on.store.record([linear(job)]);
    expect(verdict).toMatchObject({ finished: { awaited: false } });
  });

  it('RUN-6: the next stage keeps the place of its run: before runs that were started later', async (on) => {
    const job = await on.startAndClaim();
    on.travel(1_000);
    await on.start();
    await on.store.record([linear(job, { transition: followedBy() })]);
    const next = await on.claimOne();
    expect(next.run.id).toBe(job.run.id);
    expect(next.jobId).toBe(job.jobId);
  });

  it('RUN-6: the next stage keeps the priority of its run', async (on) => {
    const job = await on.startAndClaim({ priority: 7 });
    await on.start({ priority: 5 });
    await on.store.record([linear(job, { transition: followedBy() })]);
    expect((await on.claimOne()).run.id).toBe(job.run.id);
  });

  it('GRP-4: a stage that skips itself is SKIPPED, with its reason', async (on) => {
    const job = await on.startAndClaim();
    await on.store.record([linear(job, { outcome: skipped('no pages'), transition: followedBy() })]);
    expect(await on.stageRun(job.run.id, 'first')).toMatchObject({
      status: 'SKIPPED',
      skipReason: 'no pages',
      output: null,
    });
  });

  it('GRP-1: a group that follows has a job for each branch, with the priority of the run', async (on) => {
    const job = await on.startAndClaim({ priority: 7 });
    await on.start({ priority: 5 });
    await on.store.record([linear(job, { transition: group(['left', 'right'], { after: 1 }) })]);
    const { claimed } = await on.claim({ limit: 2 });
    expect(claimed.map(({ stageRun }) => stageRun.key).sort()).toEqual(['left', 'right']);
    expect(await on.store.extendLeases([leaseOf(job)])).toEqual(new Map([[job.jobId, 'lost']]));
  });

  it('GRP-4: stages that are skipped on the way to the next one are stored too', async (on) => {
    const job = await on.startAndClaim();
    const stageRuns = [
      newStageRun({ key: 'second', ordinal: 2, status: 'SKIPPED', skipReason: 'when' }),
      newStageRun({ key: 'third', ordinal: 3 }),
    ];
    await on.store.record([linear(job, { transition: newTransition({ stageRuns }) })]);
    expect(await on.statuses(job.run.id)).toEqual(['first COMPLETED', 'second SKIPPED', 'third PENDING']);
    expect((await on.claimOne()).stageRun.key).toBe('third');
  });

  it('FAIL-1: a condition that throws after a stage fails the run; the output is kept', async (on) => {
    const job = await on.startAndClaim();
    const stageRuns = [
      newStageRun({
        key: 'second',
        ordinal: 2,
        status: 'FAILED',
        failure: { code: 'CONDITION_FAILED', message: 'No.', params: null, node: 'second' },
      }),
    ];
    const [verdict] = await on.store.record([linear(job, { transition: failing({ stageRuns }) })]);
    expect(verdict).toMatchObject({ verdict: 'recorded', finished: { status: 'FAILED' } });
    expect(await on.statuses(job.run.id)).toEqual(['first COMPLETED', 'second FAILED']);
    expect((await on.run(job.run.id)).failureCode).toBe('BROKEN');
  });

  it('RETRY-2: a retryable failure leaves the stage run PENDING with the error on it', async (on) => {
    const job = await on.startAndClaim();
    const [verdict] = await on.store.record([
      linear(job, { outcome: retrying(60_000, { code: 'EXCEPTION', message: 'Later.' }) }),
    ]);
    expect(verdict).toEqual({ verdict: 'recorded', handedOff: false, finished: null });
    expect(await on.stageRun(job.run.id, 'first')).toMatchObject({
      status: 'PENDING',
      attempt: 1,
      errorCode: 'EXCEPTION',
      errorMessage: 'Later.',
      finishedAt: null,
    });
    expect((await on.run(job.run.id)).status).toBe('RUNNING');
  });

  it('RETRY-2: the next attempt is a delayed job, counted as a retry when it comes due', async (on) => {
    const job = await on.startAndClaim();
    await on.store.record([linear(job, { outcome: retrying(60_000) })]);
    expect(await on.promote()).toBe(0);
    expect(await on.isAnythingDue()).toBe(false);
    on.travel(60_001);
    expect(await on.store.promoteDelayed(10, 0)).toMatchObject({ promoted: 1, retries: 1 });
    const again = await on.claimOne();
    expect(again.stageRun).toMatchObject({ id: job.stageRun.id, attempt: 2 });
    expect(again.token).not.toBe(job.token);
  });

  it('RETRY-2: without a delay the next attempt is due at once', async (on) => {
    const job = await on.startAndClaim();
    await on.store.record([linear(job, { outcome: retrying(0) })]);
    expect((await on.claimOne()).stageRun.attempt).toBe(2);
  });

  it('FAIL-2: every failed attempt is kept: when, by whom, why, for how long', async (on) => {
    await on.start();
    const first = await on.claimOne({ workerId: 'worker-a' });
    on.travel(2_000);
    const cause = { code: 'ECONNRESET', name: 'Error', message: 'reset', retryable: true };
    await on.store.record([linear(first, { outcome: retrying(0, { message: 'One.', stack: 'at x', cause }) })]);
    const second = await on.claimOne({ workerId: 'worker-b' });
    await on.store.record([linear(second, { outcome: retrying(0, { code: 'STAGE_TIMEOUT', message: 'Two.' }) })]);

    const { attempts } = await on.history(first.run.id);
    expect(attempts).toMatchObject([
      { stageRunId: first.stageRun.id, attempt: 1, workerId: 'worker-a', code: 'EXCEPTION', message: 'One.' },
      { stageRunId: first.stageRun.id, attempt: 2, workerId: 'worker-b', code: 'STAGE_TIMEOUT', message: 'Two.' },
    ]);
    expect(attempts[0]?.stack).toBe('at x');
    expect(JSON.parse(attempts[0]?.cause ?? '')).toEqual(cause);
    expect(attempts[1]).toMatchObject({ stack: null, cause: null });
    const durationMs = attempts[0]?.durationMs ?? 0;
    expect(Math.abs(durationMs - 2_000)).toBeLessThanOrEqual(1_000);
    expect(Date.parse(attempts[0]?.endedAt ?? '')).toBeGreaterThan(Date.parse(attempts[0]?.startedAt ?? ''));
  });

  it('GRP-3: a failed branch with attempts left does not fail the run', async (on) => {
    await on.start({ transition: group(['left', 'right']) });
    const { claimed } = await on.claim();
    const verdicts = await on.store.record(claimed.map((job) => linear(job, { outcome: retrying() })));
    expect(verdicts).toMatchObject([{ verdict: 'recorded' }, { verdict: 'recorded' }]);
    expect((await on.claim()).claimed.map(({ stageRun }) => stageRun.attempt)).toEqual([2, 2]);
  });

  it('LEASE-6: a stage handed back at shutdown is due at once and has used no attempt', async (on) => {
    const job = await on.startAndClaim();
    await on.store.record([linear(job, { outcome: released('shutdown') })]);
    expect(await on.stageRun(job.run.id, 'first')).toMatchObject({ status: 'PENDING', attempt: 0, errorCode: null });
    expect((await on.history(job.run.id)).attempts).toEqual([]);
    expect((await on.claimOne()).stageRun).toMatchObject({ attempt: 1, deferrals: 0 });
  });

  it('GHOST-3: a stage this build does not serve waits, its attempt given back, its deferrals counted', async (on) => {
    const job = await on.startAndClaim();
    await on.store.record([linear(job, { outcome: released('version', 30_000) })]);
    expect(await on.isAnythingDue()).toBe(false);
    on.travel(30_001);
    expect(await on.store.promoteDelayed(10, 0)).toMatchObject({ promoted: 1, retries: 0 });
    expect((await on.claimOne()).stageRun).toMatchObject({ attempt: 1, deferrals: 1 });
  });

  it('LEASE-5: without the claim token nothing is written', async (on) => {
    const job = await on.startAndClaim();
    const before = await on.history(job.run.id);
    const lease = { ...leaseOf(job), token: newId() };
    const [verdict] = await on.store.record([
      linear(job, { lease, transition: followedBy(), events: [{ type: 'stage:completed' }] }),
    ]);
    expect(verdict).toEqual({ verdict: 'not-fenced' });
    expect(await on.history(job.run.id)).toEqual(before);
    expect(await on.eventTypes(job.run.id)).toEqual(['stage:started']);
    expect(await on.isAnythingDue()).toBe(false);
  });

  it('LEASE-5: a record whose answer was lost is not written twice, and its fence says that it was written', async (on) => {
    const job = await on.startAndClaim();
    const record = linear(job, { transition: followedBy() });
    await on.store.record([record]);
    expect(await on.store.record([record])).toEqual([{ verdict: 'not-fenced' }]);
    expect(await on.statuses(job.run.id)).toEqual(['first COMPLETED', 'second PENDING']);
    expect(await on.store.readFences([job.stageRun.id])).toEqual([
      { stageRunId: job.stageRun.id, status: 'COMPLETED', token: job.token, runStatus: 'RUNNING' },
    ]);
  });

  it('LEASE-5: fences of stage runs that do not exist are left out', async (on) => {
    expect(await on.store.readFences([newId()])).toEqual([]);
    expect(await on.store.readFences([])).toEqual([]);
  });

  it('FAULT F10: nothing follows a stage of a run that was cancelled meanwhile', async (on) => {
    const job = await on.startAndClaim();
    await on.cancel(job.run.id);
    expect(await on.store.record([linear(job, { transition: followedBy() })])).toEqual([{ verdict: 'not-fenced' }]);
    expect(await on.statuses(job.run.id)).toEqual(['first CANCELLED']);
    expect(await on.store.readFences([job.stageRun.id])).toMatchObject([
      { status: 'CANCELLED', runStatus: 'CANCELLED' },
    ]);
  });

  it('LEASE-5: a record is fenced by its run, too, whatever became of the stage', async (on) => {
    const job = await on.startAndClaim();
    await on.cancel(job.run.id, { cancelOpen: false });
    expect(await on.store.record([linear(job, { transition: followedBy() })])).toEqual([{ verdict: 'not-fenced' }]);
    expect(await on.settle([joined(job)], () => followedBy())).toEqual([{ verdict: 'not-fenced' }]);
    expect(await on.statuses(job.run.id)).toEqual(['first RUNNING']);
  });

  it('RUN-8: verdicts stand in the order of the records', async (on) => {
    await on.store.createRuns([newRun(), newRun(), newRun()]);
    const { claimed } = await on.claim();
    const records = claimed.map((job, i) => {
      const lease = i === 1 ? { ...leaseOf(job), token: newId() } : leaseOf(job);
      return linear(job, { lease, transition: i === 2 ? group(['left', 'right'], { after: 1 }) : ending() });
    });
    const verdicts = await on.store.record(records);
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(['recorded', 'not-fenced', 'recorded']);
    expect(verdicts[0]).toMatchObject({ finished: { runId: claimed[0]?.run.id } });
    expect(verdicts[2]).toMatchObject({ finished: null });
  });

  it('RUN-8: no records are no work', async (on) => {
    expect(await on.store.record([])).toEqual([]);
  });

  it('RUN-8: a row that cannot be stored fails the whole call and nothing of it is written', async (on) => {
    await on.store.createRuns([newRun(), newRun()]);
    const [good, bad] = (await on.claim()).claimed;
    if (good === undefined || bad === undefined) throw new Error('Two jobs were due.');
    const taken = followedBy({ id: good.stageRun.id });

    const error = await rejection(
      on.store.record([linear(good, { transition: followedBy() }), linear(bad, { transition: taken })]),
    );

    expect(on.store.isDataError(error)).toBe(true);
    expect(await on.statuses(good.run.id)).toEqual(['first RUNNING']);
    expect(await on.statuses(bad.run.id)).toEqual(['first RUNNING']);
    expect(await on.store.record([linear(good)])).toMatchObject([{ verdict: 'recorded' }]);
  });

  it('FAULT A1: a failure text that cannot be stored is a data error, and another text can be', async (on) => {
    const job = await on.startAndClaim();
    const error = await rejection(on.store.record([linear(job, { outcome: retrying(0, { message: 'a\u0000b' }) })]));
    expect(on.store.isDataError(error)).toBe(true);
    expect((await on.stageRun(job.run.id, 'first')).status).toBe('RUNNING');
    expect(await on.store.record([linear(job, { outcome: retrying(0) })])).toMatchObject([{ verdict: 'recorded' }]);
  });

  it('EVT-1: events of the outcome come before those of what follows', async (on) => {
    const job = await on.startAndClaim();
    const transition = { ...ending(), events: [{ type: 'run:completed' as const }] };
    await on.store.record([linear(job, { transition, events: [{ type: 'stage:completed', data: { n: 1 } }] })]);
    expect(await on.eventTypes(job.run.id)).toEqual(['stage:started', 'stage:completed', 'run:completed']);
  });

  it('EVT-1: a retry is told although nothing follows from it', async (on) => {
    const job = await on.startAndClaim();
    await on.store.record([linear(job, { outcome: retrying(), events: [{ type: 'stage:retrying' }] })]);
    expect(await on.eventTypes(job.run.id)).toEqual(['stage:started', 'stage:retrying']);
  });

  it('FAIL-1: a terminal failure whose consequence is known is stored with it', async (on) => {
    const job = await on.startAndClaim();
    const [verdict] = await on.store.record([linear(job, { outcome: failed(), transition: failing() })]);
    expect(verdict).toMatchObject({ verdict: 'recorded', finished: { status: 'FAILED' } });
    expect(await on.statuses(job.run.id)).toEqual(['first FAILED']);
    expect((await on.history(job.run.id)).attempts).toHaveLength(1);
  });
}
