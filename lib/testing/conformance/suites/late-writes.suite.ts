import type { ClaimedJob, ExpiredLease } from '../../../engine/ports/index.js';
import {
  completed,
  failed,
  failing,
  followedBy,
  joined,
  linear,
  lostForGood,
  lostRecord,
  released,
  retrying,
  skipped,
} from '../builders.js';
import { LIMITS, type StoreUnderTest } from '../store-under-test.js';
import type { StoreSuite } from '../suite.js';

/** What the new owner of the attempt does after the old one lost its lease. */
const OUTCOMES: Readonly<Record<string, (on: StoreUnderTest, owner: ClaimedJob) => Promise<unknown>>> = {
  'is still at work': async () => undefined,
  'has completed it': (on, owner) =>
    on.store.record([linear(owner, { outcome: completed('"new"'), transition: followedBy() })]),
  'has skipped it': (on, owner) => on.store.record([linear(owner, { outcome: skipped(), transition: followedBy() })]),
  'has failed it': (on, owner) => on.settle([joined(owner, { outcome: failed() })], () => failing()),
  'has put it back for a retry': (on, owner) => on.store.record([linear(owner, { outcome: retrying(60_000) })]),
  'has handed it back': (on, owner) => on.store.record([linear(owner, { outcome: released('version', 60_000) })]),
  'has lost it, too': async (on, owner) => on.store.reap([lostRecord(await on.expire(owner))], LIMITS, () => failing()),
  'has lost it for good': async (on, owner) =>
    on.store.reap([lostRecord(await on.expire(owner), { outcome: lostForGood() })], LIMITS, () => failing()),
  'was cancelled': (on, owner) => on.cancel(owner.run.id),
};

/** What the old owner tries then. Answers whether anything was taken from it. */
const LATE: Readonly<
  Record<string, (on: StoreUnderTest, late: ClaimedJob, expired: ExpiredLease) => Promise<boolean>>
> = {
  complete: async (on, late) => isRecorded(on.store.record([linear(late, { transition: followedBy() })])),
  skip: async (on, late) => isRecorded(on.store.record([linear(late, { outcome: skipped() })])),
  'be tried again': async (on, late) => isRecorded(on.store.record([linear(late, { outcome: retrying() })])),
  'hand it back': async (on, late) => isRecorded(on.store.record([linear(late, { outcome: released() })])),
  'complete as a branch': async (on, late) => isRecorded(on.settle([joined(late)], () => followedBy())),
  fail: async (on, late) => isRecorded(on.settle([joined(late, { outcome: failed() })], () => failing())),
  'be reaped again': async (on, _late, expired) =>
    (await on.store.reap([lostRecord(expired)], LIMITS, () => failing())) > 0,
  'be reaped for good': async (on, _late, expired) =>
    (await on.store.reap([lostRecord(expired, { outcome: lostForGood() })], LIMITS, () => failing())) > 0,
};

async function isRecorded(verdicts: Promise<{ readonly verdict: string }[]>): Promise<boolean> {
  return (await verdicts).some(({ verdict }) => verdict !== 'not-fenced');
}

export function describeLateWrites({ it, expect }: StoreSuite): void {
  for (const [what, act] of Object.entries(OUTCOMES)) {
    for (const [late, write] of Object.entries(LATE)) {
      it(`FAULT C8: a worker that lost its lease can't ${late} when the new owner ${what}`, async (on) => {
        const old = await on.startAndClaim();
        const expired = await on.expire(old);
        await on.store.reap([lostRecord(expired)], LIMITS, () => failing());
        await act(on, await on.claimOne({ workerId: 'worker-b' }));
        const [history, events] = [await on.history(old.run.id), await on.events(old.run.id)];

        expect(await write(on, old, expired)).toBe(false);

        expect(await on.history(old.run.id)).toEqual(history);
        expect(await on.events(old.run.id)).toEqual(events);
      });
    }
  }

  it('LEASE-5: a late worker finds neither its token nor a reason to go on', async (on) => {
    for (const outcome of [undefined, lostForGood()]) {
      const old = await on.startAndClaim();
      const record = lostRecord(await on.expire(old), outcome && { outcome });
      await on.store.reap([record], LIMITS, () => failing());
      const [fence] = await on.store.readFences([old.stageRun.id]);
      expect(fence?.token).not.toBe(old.token);
    }
  });
}
