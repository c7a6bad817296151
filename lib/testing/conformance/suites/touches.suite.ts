import type { ClaimedJob, NewRun } from '../../../engine/ports/index.js';
import { leaseOf } from '../builders.js';
import { awaiting, begin, eventWait, finish, newWait, signalWait, sleep, suspending } from '../step-builders.js';
import type { StoreUnderTest } from '../store-under-test.js';
import type { StoreSuite } from '../suite.js';

const ORDER = { type: 'order', id: 'o1' };
const HOUR_MS = 3_600_000;
const NOTHING = { runs: 0, polls: 0, resumed: 0 };

const poll = (key = 'paid') => newWait(key, { kind: 'poll', due: { inMs: HOUR_MS }, dueIfNew: false });

/** A run about the order, whose stage is asleep between two polls. */
async function pollingRun(on: StoreUnderTest, given: Partial<NewRun> = {}): Promise<ClaimedJob> {
  const job = await on.startAndClaim({ ownerId: 'a', subject: ORDER, ...given });
  await on.suspend(suspending(job, [poll()]));
  return job;
}

const statusOf = async (on: StoreUnderTest, job: ClaimedJob): Promise<string> =>
  (await on.stageRun(job.run.id, 'first')).status;

/** A subject changed: who looks at it looks again. */
export function describeTouches({ it, expect }: StoreSuite): void {
  it('WAIT-1: a touch makes the polls about its subject due, within its owner', async (on) => {
    const mine = await pollingRun(on);
    const others = [
      await pollingRun(on, { ownerId: 'b' }),
      await pollingRun(on, { ownerId: null }),
      await pollingRun(on, { subject: { type: 'order', id: 'o2' } }),
      await pollingRun(on, { subject: { type: 'invoice', id: 'o1' } }),
      await pollingRun(on, { subject: null }),
    ];
    expect(await on.store.touch(ORDER, 'a')).toEqual({ runs: 1, polls: 1, resumed: 1 });
    expect(await statusOf(on, mine)).toBe('PENDING');
    for (const other of others) expect(await statusOf(on, other)).toBe('SUSPENDED');
    const again = await on.claimAgain(mine);
    expect(again.stageRun).toMatchObject({ attempt: 1, resumed: true });
    expect(await on.ledger(mine)).toMatchObject([{ key: 'paid', status: 'ready' }]);
    expect(await on.store.touch(ORDER, 'nobody')).toEqual(NOTHING);
    expect(await on.store.touch(ORDER, null)).toEqual({ runs: 1, polls: 1, resumed: 1 });
  });

  it('WAIT-1: a touch of a subject leaves all waits but polls alone', async (on) => {
    const job = await on.startAndClaim({ ownerId: 'a', subject: ORDER });
    await on.suspend(suspending(job, [sleep('nap', HOUR_MS), signalWait('asked'), eventWait('told')]));
    expect(await on.store.touch(ORDER, 'a')).toEqual({ runs: 1, polls: 0, resumed: 0 });
    expect(await statusOf(on, job)).toBe('SUSPENDED');
  });

  it('WAIT-1: many runs and polls are touched at once, a stage that has several goes on once', async (on) => {
    const jobs = [await pollingRun(on), await pollingRun(on)];
    const several = await on.startAndClaim({ ownerId: 'a', subject: ORDER });
    await on.suspend(suspending(several, [poll('one'), poll('two')]));
    expect(await on.store.touch(ORDER, 'a')).toEqual({ runs: 3, polls: 4, resumed: 3 });
    for (const job of [...jobs, several]) expect(await statusOf(on, job)).toBe('PENDING');
    expect(await on.store.touch(ORDER, 'a')).toEqual({ runs: 3, polls: 0, resumed: 0 });
    expect((await on.claim()).claimed).toHaveLength(3);
  });

  it('WAIT-3: a touch that comes between a poll and its suspension lets it look again at once', async (on) => {
    const job = await on.startAndClaim({ ownerId: 'a', subject: ORDER });
    expect(await on.store.touch(ORDER, 'a')).toEqual({ runs: 1, polls: 0, resumed: 0 });
    expect(await on.suspend(suspending(job, [poll()]))).toMatchObject({ verdict: 'recorded', suspended: false });
    expect(await statusOf(on, job)).toBe('PENDING');
    // What it was claimed with is what it saw: nothing came since.
    const again = await on.claimAgain(job);
    expect(again.run.touches).toBe(job.run.touches + 1);
    expect(await on.suspend(suspending(again, [poll()]))).toMatchObject({ verdict: 'recorded', suspended: true });
  });

  it('WAIT-3: a touch while its stage runs says nothing to one that polls nothing', async (on) => {
    const job = await on.startAndClaim({ ownerId: 'a', subject: ORDER });
    await on.store.touch(ORDER, 'a');
    expect(await on.suspend(suspending(job, [sleep('nap', HOUR_MS)]))).toMatchObject({ suspended: true });
  });

  it('WAIT-3: a poll that was written beside a step, and touched there, is looked at when the step has ended', async (on) => {
    const job = await on.startAndClaim({ ownerId: 'a', subject: ORDER });
    await on.write(begin(job, 'work'), awaiting(job, [poll()]));
    expect(await on.store.touch(ORDER, 'a')).toEqual({ runs: 1, polls: 1, resumed: 0 });
    expect(await statusOf(on, job)).toBe('RUNNING');
    await on.write(finish(job, 'work'));
    expect(await on.suspend(suspending(job, [], { keep: ['paid'] }))).toMatchObject({ suspended: false });
  });

  it('WAIT-3: one that was written beside a step after the touch is looked at again, too', async (on) => {
    const job = await on.startAndClaim({ ownerId: 'a', subject: ORDER });
    await on.write(begin(job, 'work'));
    await on.store.touch(ORDER, 'a');
    await on.write(awaiting(job, [poll()]), finish(job, 'work'));
    expect(await on.suspend(suspending(job, [], { keep: ['paid'] }))).toMatchObject({ suspended: false });
  });

  it('WAIT-2: a poll whose run has ended, or has not begun, is not touched', async (on) => {
    const ended = await pollingRun(on);
    await on.cancel(ended.run.id);
    expect(await on.store.touch(ORDER, 'a')).toEqual(NOTHING);
    await on.start({ ownerId: 'a', subject: ORDER, delayMs: HOUR_MS });
    expect(await on.store.touch(ORDER, 'a')).toEqual({ runs: 1, polls: 0, resumed: 0 });
  });

  it('LEASE-5: a poll of a lost attempt is written no more, touched or not', async (on) => {
    const job = await on.startAndClaim({ ownerId: 'a', subject: ORDER });
    await on.store.touch(ORDER, 'a');
    const lease = { ...leaseOf(job), token: job.run.id };
    expect(await on.suspend(suspending(job, [poll()], { lease }))).toEqual({ verdict: 'not-fenced' });
  });
}
