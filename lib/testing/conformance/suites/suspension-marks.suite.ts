import type { ClaimedJob } from '../../../engine/ports/index.js';
import { leaseOf, linear, retrying } from '../builders.js';
import { awaiting, begin, finish, newSignal, newWait, signalWait, sleep, suspending } from '../step-builders.js';
import { EVERYBODY, type StoreUnderTest } from '../store-under-test.js';
import type { StoreSuite } from '../suite.js';

const SUSPENDED = [{ type: 'stage:suspended' as const, node: 'first', stage: 'first-stage' }];

const leaseWait = (inMs: number) => newWait('lease', { kind: 'lease', due: { inMs }, dueIfNew: false });

/** A stage whose first attempt is over while a body of its step `fetch` still runs, claimed again. */
async function claimBesideLiveBody(on: StoreUnderTest): Promise<{ before: ClaimedJob; again: ClaimedJob }> {
  const before = await on.startAndClaim();
  await on.write(begin(before, 'fetch', { leaseMs: 3_600_000 }));
  await on.store.record([linear(before, { outcome: retrying() })]);
  return { before, again: await on.claimAgain(before) };
}

/** What has come already when a stage is to be suspended: it is never slept through. */
export function describeSuspensionMarks({ it, expect }: StoreSuite): void {
  it('WAIT-3: a wait that was ended while its stage ran makes it due at once', async (on) => {
    const job = await on.startAndClaim();
    await on.write(begin(job, 'work'), awaiting(job, [sleep('nap', 60_000)]));
    on.travel(61_000);
    await on.store.extendLeases([leaseOf(job)]);
    expect(await on.fire()).toMatchObject({ timers: 1, resumed: 0 });
    expect((await on.stageRun(job.run.id, 'first')).status).toBe('RUNNING');
    await on.write(finish(job, 'work'));
    const record = suspending(job, [], { keep: ['nap'], events: SUSPENDED });
    expect(await on.suspend(record)).toMatchObject({ verdict: 'recorded', suspended: false });
    expect(await on.stageRun(job.run.id, 'first')).toMatchObject({ status: 'PENDING', attempt: 1 });
    expect((await on.claimAgain(job)).stageRun.attempt).toBe(1);
    // It was never suspended, so nobody is told.
    expect(await on.eventTypes(job.run.id)).toEqual(['stage:started']);
  });

  it('WAIT-3: what the body had already does not wake it again', async (on) => {
    const job = await on.startAndClaim();
    await on.suspend(suspending(job, [sleep('nap', 60_000)]));
    on.travel(61_000);
    await on.fire();
    const again = await on.claimAgain(job);
    const orders = [{ key: 'nap', seq: 1 }];
    const verdict = await on.suspend(suspending(again, [sleep('next', 60_000)], { keep: ['nap', 'next'], orders }));
    expect(verdict).toMatchObject({ suspended: true });
    expect(await on.ledger(job)).toMatchObject([
      { key: 'nap', status: 'completed', seq: 1 },
      { key: 'next', status: 'waiting', seq: null },
    ]);
  });

  it('WAIT-3: what a body no longer awaits does not wake it', async (on) => {
    const job = await on.startAndClaim();
    await on.write(awaiting(job, [sleep('loser', 1_000), sleep('nap', 60_000)]));
    on.travel(2_000);
    await on.fire();
    const record = suspending(job, [], { keep: ['nap'] });
    expect(await on.suspend(record)).toMatchObject({ suspended: true });
  });

  it('FAULT K26: a signal that lies there when the stage is to wait for it is given to it', async (on) => {
    const job = await on.startAndClaim();
    expect(await on.store.sendSignal(newSignal({ payload: '"yes"' }), job.run.id, EVERYBODY)).toBe('stored');
    const waits = [signalWait('approval'), sleep('deadline', 60_000)];
    expect(await on.suspend(suspending(job, waits))).toMatchObject({ verdict: 'recorded', suspended: false });
    expect(await on.step(job, 'approval')).toMatchObject({ status: 'completed', result: '"yes"', timedOut: false });
    expect(await on.step(job, 'deadline')).toMatchObject({ status: 'waiting' });
    expect((await on.claimAgain(job)).stageRun.attempt).toBe(1);
  });

  it('STEP-6: a replay that meets a live body of its step waits until that ends', async (on) => {
    const { before, again } = await claimBesideLiveBody(on);
    expect(await on.write(begin(again, 'fetch'))).toEqual(['held']);
    expect(await on.suspend(suspending(again, [leaseWait(3_600_000)]))).toMatchObject({ suspended: true });
    expect(await on.fire()).toMatchObject({ resumed: 0 });
    expect(await on.write(finish(before, 'fetch', { seq: null }))).toEqual(['written']);
    expect((await on.probe()).waitsDue).toBe(true);
    expect(await on.fire()).toMatchObject({ retries: 1, resumed: 1 });
    const replay = await on.claimAgain(again);
    expect(replay.stageRun.attempt).toBe(2);
    expect(await on.step(replay, 'fetch')).toMatchObject({ status: 'completed', seq: null });
  });

  it('STEP-6: a body that ended before the replay is suspended is not waited for', async (on) => {
    const { before, again } = await claimBesideLiveBody(on);
    expect(await on.write(begin(again, 'fetch'))).toEqual(['held']);
    await on.write(finish(before, 'fetch', { seq: null }));
    expect(await on.suspend(suspending(again, [leaseWait(3_600_000)]))).toMatchObject({ suspended: false });
    expect((await on.claimAgain(again)).stageRun.attempt).toBe(2);
  });

  it('STEP-6: a lease that is over before the replay is suspended is not waited for', async (on) => {
    const { again } = await claimBesideLiveBody(on);
    on.travel(3_700_000);
    await on.store.extendLeases([leaseOf(again)]);
    expect(await on.suspend(suspending(again, [leaseWait(60_000)]))).toMatchObject({ suspended: false });
    const replay = await on.claimAgain(again);
    expect(await on.write(begin(replay, 'fetch'))).toEqual(['written']);
  });

  it('STEP-6: a holder that dies is waited for no longer than its lease', async (on) => {
    const { again } = await claimBesideLiveBody(on);
    await on.suspend(suspending(again, [leaseWait(3_600_000)]));
    on.travel(3_601_000);
    expect(await on.fire()).toMatchObject({ retries: 1, resumed: 1 });
    expect(await on.write(begin(await on.claimAgain(again), 'fetch'))).toEqual(['written']);
  });

  it('FAULT K26: of a signal and a suspension at once neither misses the other', async (on) => {
    for (let round = 0; round < 12; round++) {
      const job = await on.startAndClaim();
      const [verdict, answer] = await Promise.all([
        on.suspend(suspending(job, [signalWait('approval')])),
        on.second.sendSignal(newSignal(), job.run.id, EVERYBODY),
      ]);
      expect(['delivered', 'stored']).toContain(answer);
      expect(verdict.verdict).toBe('recorded');
      const again = await on.claimAgain(job);
      expect(await on.step(again, 'approval')).toMatchObject({ status: 'completed', result: '{"amount":1}' });
      await on.store.record([linear(again)]);
    }
  });
}
