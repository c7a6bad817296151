import type { ClaimedJob } from '../../../engine/ports/index.js';
import { failing, followedBy, group, joined, leaseOf, linear, newTransition, retrying } from '../builders.js';
import {
  awaiting,
  begin,
  eventWait,
  finish,
  newNotes,
  newSignal,
  newWait,
  signalWait,
  sleep,
  suspending,
} from '../step-builders.js';
import { EVERYBODY, type StoreUnderTest } from '../store-under-test.js';
import type { StoreSuite } from '../suite.js';

const DAY_MS = 86_400_000;

const SUSPENDED = [{ type: 'stage:suspended' as const, node: 'first', stage: 'first-stage' }];

/** Stages that are put to sleep: who may, until when, and what becomes of waits that nobody awaits any more. */
export function describeSuspensions({ it, expect }: StoreSuite): void {
  const instantOf = async (on: StoreUnderTest, job: ClaimedJob, key: string): Promise<number> =>
    Date.parse((await on.history(job.run.id)).steps.find((row) => row.key === key)?.dueAt ?? '');

  it('WAIT-1: a suspended stage holds no job and no lease; its run is RUNNING', async (on) => {
    const job = await on.startAndClaim();
    const verdict = await on.suspend(suspending(job, [sleep('nap', 60_000)], { events: SUSPENDED }));
    expect(verdict).toMatchObject({ verdict: 'recorded', suspended: true });
    expect(await on.stageRun(job.run.id, 'first')).toMatchObject({ status: 'SUSPENDED', attempt: 1, finishedAt: null });
    expect((await on.run(job.run.id)).status).toBe('RUNNING');
    expect(await on.claim()).toEqual({ claimed: [], discarded: [] });
    expect(await on.store.claimStageRun(job.stageRun.id, 'worker-b')).toBe('duplicate');
    const looked = await on.store.changeRun(job.run.id, EVERYBODY, ({ jobCount }) => ({
      transition: null,
      answer: jobCount,
    }));
    expect(looked?.answer).toBe(0);
    expect(await on.store.readFences([job.stageRun.id])).toMatchObject([{ status: 'SUSPENDED', token: null }]);
    expect(await on.eventTypes(job.run.id)).toEqual(['stage:started', 'stage:suspended']);
  });

  it('WAIT-1: the answer says when the stage is due by itself at the earliest', async (on) => {
    const [one, two] = [await on.startAndClaim(), await on.startAndClaim()];
    const waits = [sleep('long', 3_600_000), sleep('short', 60_000), signalWait('never')];
    const timed = await on.suspend(suspending(one, waits));
    expect(timed).toMatchObject({ suspended: true });
    expect(Math.abs((timed as { dueInMs: number }).dueInMs - 60_000)).toBeLessThanOrEqual(20_000);
    expect(await on.suspend(suspending(two, [signalWait('never')]))).toEqual({
      verdict: 'recorded',
      suspended: true,
      dueInMs: null,
    });
  });

  it('WAIT-1: an attempt that suspended its stage may write nothing more', async (on) => {
    const job = await on.startAndClaim();
    await on.suspend(suspending(job, [sleep('nap', 60_000)]));
    expect(await on.store.record([linear(job)])).toEqual([{ verdict: 'not-fenced' }]);
    expect(await on.settle([joined(job)], () => newTransition())).toEqual([{ verdict: 'not-fenced' }]);
    expect(await on.suspend(suspending(job, [sleep('other', 1)]))).toEqual({ verdict: 'not-fenced' });
    expect(await on.write(begin(job, 'fetch'))).toEqual(['not-fenced']);
    expect(await on.store.extendLeases([leaseOf(job)])).toEqual(new Map([[job.jobId, 'lost']]));
    expect((await on.ledger(job)).map(({ key }) => key)).toEqual(['nap']);
  });

  it('LEASE-5: an attempt that lost its lease suspends nothing', async (on) => {
    const job = await on.startAndClaim();
    await on.store.record([linear(job, { outcome: retrying() })]);
    const again = await on.claimAgain(job);
    expect(await on.suspend(suspending(job, [sleep('nap', 60_000)]))).toEqual({ verdict: 'not-fenced' });
    expect(await on.ledger(job)).toEqual([]);
    expect((await on.stageRun(job.run.id, 'first')).status).toBe('RUNNING');
    expect(await on.store.record([linear(again)])).toMatchObject([{ verdict: 'recorded' }]);
  });

  it('CANCEL-2: a stage whose run was cancelled is not suspended', async (on) => {
    const job = await on.startAndClaim();
    await on.cancel(job.run.id);
    expect(await on.suspend(suspending(job, [sleep('nap', 60_000)]))).toEqual({ verdict: 'not-fenced' });
    expect(await on.statuses(job.run.id)).toEqual(['first CANCELLED']);
    expect(await on.ledger(job)).toEqual([]);
  });

  it('WAIT-1: stages of many runs are suspended in one call, each with a verdict of its own', async (on) => {
    const [one, two, three] = [await on.startAndClaim(), await on.startAndClaim(), await on.startAndClaim()];
    await on.cancel(two.run.id);
    await on.store.sendSignal(newSignal(), three.run.id, EVERYBODY);
    const records = [
      suspending(one, [sleep('nap', 60_000)]),
      suspending(two, [sleep('nap', 60_000)]),
      suspending(three, [signalWait('approval')]),
    ];
    expect(await on.store.suspend(records)).toMatchObject([
      { verdict: 'recorded', suspended: true },
      { verdict: 'not-fenced' },
      { verdict: 'recorded', suspended: false },
    ]);
    expect(await on.store.suspend([])).toEqual([]);
  });

  it('WAIT-1: branches of one run are suspended each by itself, and the others go on', async (on) => {
    await on.start({ transition: group(['left', 'right']) });
    const { claimed } = await on.claim();
    const [left, right] = claimed;
    if (left === undefined || right === undefined) throw new Error('Two branches were due.');
    const naps = [sleep('nap', 60_000)];
    expect(await on.store.suspend([suspending(left, naps), suspending(right, naps)])).toMatchObject([
      { suspended: true },
      { suspended: true },
    ]);
    on.travel(61_000);
    expect(await on.fire()).toMatchObject({ timers: 2, resumed: 2 });
    const again = (await on.claim()).claimed;
    expect(again.map(({ stageRun }) => stageRun.key).sort()).toEqual(['left', 'right']);
    const decided = () => newTransition({ run: { to: 'COMPLETED', output: '1' } });
    const verdicts = await on.settle(
      again.map((branch) => joined(branch)),
      decided,
    );
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(['recorded', 'recorded']);
    expect((await on.run(left.run.id)).status).toBe('COMPLETED');
  });

  it('STEP-5: losers of a race are retired when the stage is suspended', async (on) => {
    const job = await on.startAndClaim();
    await on.suspend(suspending(job, [sleep('winner', 1_000), sleep('loser', 60_000), eventWait('event')]));
    on.travel(2_000);
    await on.fire();
    const again = await on.claimAgain(job);
    const orders = [{ key: 'winner', seq: 1 }];
    await on.suspend(suspending(again, [sleep('next', 600_000)], { keep: ['next', 'event'], orders }));
    const statuses = (await on.ledger(job)).map(({ key, status }) => `${key} ${status}`).sort();
    expect(statuses).toEqual(['event waiting', 'loser cancelled', 'next waiting', 'winner completed']);
    on.travel(120_000);
    expect(await on.fire()).toMatchObject({ timers: 0, resumed: 0 });
  });

  it('WAIT-2: waits of a stage that has moved on are cancelled with its record', async (on) => {
    const job = await on.startAndClaim();
    await on.suspend(suspending(job, [sleep('nap', 1_000), sleep('loser', 60_000)]));
    on.travel(2_000);
    await on.fire();
    const beside = { cancelWaits: true, reopen: [], freeSteps: false, notes: null };
    await on.store.record([linear(await on.claimAgain(job), { transition: followedBy(), beside })]);
    expect(await on.step(job, 'loser')).toMatchObject({ status: 'cancelled' });
    on.travel(120_000);
    expect(await on.probe()).toMatchObject({ waitsDue: false, nextWaitInMs: null });
    expect(await on.fire()).toMatchObject({ timers: 0, resumed: 0 });
  });

  it('WAIT-2: nothing beside an outcome is written when that is not recorded', async (on) => {
    const job = await on.startAndClaim();
    await on.suspend(suspending(job, [sleep('nap', 60_000)]));
    const beside = { cancelWaits: true, reopen: ['nap'], freeSteps: true, notes: newNotes() };
    expect(await on.store.record([linear(job, { beside })])).toEqual([{ verdict: 'not-fenced' }]);
    expect(await on.settle([joined(job, { beside })], () => newTransition())).toEqual([{ verdict: 'not-fenced' }]);
    expect(await on.step(job, 'nap')).toMatchObject({ status: 'waiting' });
    expect((await on.history(job.run.id)).lines).toEqual([]);
  });

  it('STEP-3: a sleep that is awaited again keeps the instant it had, cancelled in between too', async (on) => {
    const job = await on.startAndClaim();
    await on.write(awaiting(job, [sleep('nap', 600_000), sleep('other', 600_000)]));
    const instant = await instantOf(on, job, 'nap');
    on.travel(60_000);
    await on.write(awaiting(job, [sleep('nap', 600_000)]));
    expect(await instantOf(on, job, 'nap')).toBe(instant);
    await on.suspend(suspending(job, [sleep('tick', 60_000)], { keep: ['tick'] }));
    expect(await on.step(job, 'nap')).toMatchObject({ status: 'cancelled' });
    on.travel(61_000);
    await on.fire();
    const again = await on.claimAgain(job);
    const orders = [{ key: 'tick', seq: 1 }];
    const verdict = await on.suspend(suspending(again, [sleep('nap', 600_000)], { orders }));
    expect(await instantOf(on, job, 'nap')).toBe(instant);
    expect((verdict as { dueInMs: number }).dueInMs).toBeLessThanOrEqual(500_000);
    on.travel(500_000);
    expect(await on.fire()).toMatchObject({ timers: 1, resumed: 1 });
  });

  it('FAULT B5: a sleep begins when it is awaited, not when its stage is suspended', async (on) => {
    const job = await on.startAndClaim();
    await on.write(begin(job, 'work'), awaiting(job, [sleep('nap', 600_000)]));
    on.travel(240_000);
    await on.write(finish(job, 'work'));
    const verdict = await on.suspend(suspending(job, [sleep('nap', 600_000)]));
    expect(Math.abs((verdict as { dueInMs: number }).dueInMs - 360_000)).toBeLessThanOrEqual(20_000);
  });

  it('STEP-3: a sleep lasts until an instant, or longer than 2^31 ms', async (on) => {
    const [one, two] = [await on.startAndClaim(), await on.startAndClaim()];
    const at = new Date(Date.parse(await on.store.now()) + 3_600_000).toISOString();
    await on.suspend(suspending(one, [newWait('nap', { due: { at } })]));
    await on.suspend(suspending(two, [sleep('nap', 400 * DAY_MS)]));
    on.travel(3_540_000);
    expect(await on.fire()).toMatchObject({ timers: 0 });
    on.travel(120_000);
    expect(await on.fire()).toMatchObject({ timers: 1, resumed: 1 });
    expect((await on.claimOne()).run.id).toBe(one.run.id);
    on.travel(399 * DAY_MS);
    expect(await on.fire()).toMatchObject({ timers: 0 });
    on.travel(DAY_MS);
    expect(await on.fire()).toMatchObject({ timers: 1, resumed: 1 });
  });

  it('FAULT B7: a sleep until an instant that has passed is due at once', async (on) => {
    const job = await on.startAndClaim();
    const at = new Date(Date.parse(await on.store.now()) - 3_600_000).toISOString();
    await on.suspend(suspending(job, [newWait('nap', { due: { at } })]));
    expect(await on.fire()).toMatchObject({ timers: 1, resumed: 1 });
  });

  it('STEP-4: the next poll is due anew each time, at the limit of the whole wait at the latest', async (on) => {
    const job = await on.startAndClaim();
    const poll = newWait('ready', {
      kind: 'poll',
      due: { inMs: 240_000 },
      dueIfNew: false,
      expiresInMs: 600_000,
    });
    const first = await on.suspend(suspending(job, [poll]));
    expect(Math.abs((first as { dueInMs: number }).dueInMs - 240_000)).toBeLessThanOrEqual(20_000);
    on.travel(500_000);
    expect(await on.fire()).toMatchObject({ polls: 1, resumed: 1 });
    expect(await on.step(job, 'ready')).toMatchObject({ status: 'ready', attempt: 1, timedOut: false });
    const second = await on.suspend(suspending(await on.claimAgain(job), [poll]));
    expect(second).toMatchObject({ suspended: true });
    expect((second as { dueInMs: number }).dueInMs).toBeLessThanOrEqual(100_000);
    expect((second as { dueInMs: number }).dueInMs).toBeGreaterThan(60_000);
    expect((await on.step(job, 'ready')).expiresInMs ?? 0).toBeLessThanOrEqual(100_000);
  });

  it('STEP-7: a backoff is waited out by a suspended stage, and its step may begin again', async (on) => {
    const job = await on.startAndClaim();
    await on.write(begin(job, 'fetch'));
    await on.write(finish(job, 'fetch', { seq: null, outcome: { kind: 'again', failure: '{}', delayMs: 60_000 } }));
    const verdict = await on.suspend(suspending(job, [], { keep: ['fetch'] }));
    expect(verdict).toMatchObject({ suspended: true });
    expect(Math.abs((verdict as { dueInMs: number }).dueInMs - 60_000)).toBeLessThanOrEqual(20_000);
    on.travel(61_000);
    expect(await on.fire()).toMatchObject({ retries: 1, resumed: 1 });
    const again = await on.claimAgain(job);
    expect(await on.step(again, 'fetch')).toMatchObject({ status: 'ready', attempt: 1 });
    expect(await on.write(begin(again, 'fetch'))).toEqual(['written']);
    expect(await on.step(again, 'fetch')).toMatchObject({ attempt: 2, token: again.token });
  });

  it('CANCEL-1: the waits of a run end with it, and wake nobody', async (on) => {
    const [cancelled, failedRun] = [await on.startAndClaim(), await on.startAndClaim()];
    const waits = [sleep('nap', 60_000), signalWait('approval'), eventWait('event', { expiresInMs: 60_000 })];
    for (const job of [cancelled, failedRun]) await on.suspend(suspending(job, waits));
    await on.cancel(cancelled.run.id);
    await on.change(failedRun.run.id, failing());
    for (const job of [cancelled, failedRun]) {
      expect(await on.statuses(job.run.id)).toEqual(['first CANCELLED']);
      const statuses = (await on.ledger(job)).map(({ status }) => status);
      expect(statuses).toEqual(['cancelled', 'cancelled', 'cancelled']);
    }
    on.travel(120_000);
    expect(await on.probe()).toMatchObject({ waitsDue: false, eventWaitsOverdue: false, nextWaitInMs: null });
    expect(await on.fire()).toMatchObject({ timers: 0, resumed: 0 });
    expect(await on.claim()).toEqual({ claimed: [], discarded: [] });
  });

  it('OBS-3: what a body noted down is kept when it is suspended, and when it is not', async (on) => {
    for (const send of [false, true]) {
      const job = await on.startAndClaim();
      if (send) await on.store.sendSignal(newSignal(), job.run.id, EVERYBODY);
      const notes = newNotes();
      const verdict = await on.suspend(suspending(job, [signalWait('approval')], { notes }));
      expect(verdict).toMatchObject({ suspended: !send });
      const { annotations, lines } = await on.history(job.run.id);
      expect(annotations.map(({ id }) => id)).toEqual(notes.annotations.map(({ id }) => id));
      expect(lines.map(({ id }) => id)).toEqual(notes.lines.map(({ id }) => id));
      expect((await on.stageRun(job.run.id, 'first')).progress).toEqual(notes.progress);
    }
  });
}
