import { ask, deciding, expiring, inbox, openRound, read, waitingRound } from '../approval-builders.js';
import { failing, group, joined, newTransition } from '../builders.js';
import { sleep, suspending } from '../step-builders.js';
import type { StoreUnderTest } from '../store-under-test.js';
import type { StoreSuite } from '../suite.js';

/** Rounds that end without those who are asked: their time is over, or what they stand in is. */
export function describeApprovalEnds({ it, expect }: StoreSuite): void {
  it('D9: what comes after the time of a round loses to it, also before anybody has noticed', async (on) => {
    const { job, round } = await waitingRound(on, { expiresInMs: 60_000 });
    on.travel(60_001);
    expect((await ask(on, round, deciding('u1'))).answer).toBe('ROUND_CLOSED');
    expect(await inbox(on, 'u1')).toEqual([]);
    expect(await read(on, round)).toMatchObject({ status: 'expired', endedAt: null });
    expect(await on.fire()).toMatchObject({ timeouts: 1 });
    const again = await on.claimAgain(job);
    expect(await ask(on, round, expiring)).toEqual({ answer: 'changed', resumed: false });
    expect(await ask(on, round, expiring)).toEqual({ answer: 'repeated', resumed: false });
    expect((await read(on, round)).endedAt === null).toBe(false);
    expect(await on.suspend(suspending(again, [sleep('nap', 1_000)]))).toMatchObject({ suspended: true });
  });

  it('D9: what comes after its wait is over loses to it, though the clock does not say so', async (on) => {
    const { round } = await waitingRound(on, { expiresInMs: 60_000 });
    expect(await on.fire(61_000)).toMatchObject({ timeouts: 1 });
    expect((await ask(on, round, deciding('u1'))).answer).toBe('ROUND_CLOSED');
    expect(await read(on, round)).toMatchObject({ status: 'expired' });
    expect(await inbox(on, 'u1')).toEqual([]);
  });

  it('D9: a round that was decided in time is no timeout', async (on) => {
    const { job, round } = await waitingRound(on, { approvers: ['u1'], expiresInMs: 60_000 });
    await ask(on, round, deciding('u1'));
    on.travel(60_001);
    expect(await on.fire()).toMatchObject({ timeouts: 0 });
    expect((await ask(on, round, expiring)).answer).toBe('repeated');
    expect(await read(on, round)).toMatchObject({ status: 'approved' });
    await on.claimAgain(job);
  });

  it('I3: a round is over with its run, and asks nobody any more', async (on) => {
    const ends: ((on: StoreUnderTest, runId: string) => Promise<void>)[] = [
      (one, runId) => one.cancel(runId),
      (one, runId) => one.change(runId, failing()),
    ];
    for (const end of ends) {
      const { job, round } = await waitingRound(on);
      await end(on, job.run.id);
      const over = await read(on, round);
      expect(over.status).toBe('cancelled');
      expect(over.endedAt === null).toBe(false);
      expect(await inbox(on, 'u1')).toEqual([]);
      expect((await ask(on, round, deciding('u1'))).answer).toBe('ROUND_CLOSED');
    }
  });

  it('I3: a round is over with its branch; those of the others go on', async (on) => {
    await on.start({ transition: group(['left', 'right']) });
    const [left, right] = (await on.claim()).claimed;
    if (!left || !right) throw new Error('Two branches were due.');
    const [dropped, kept] = [await openRound(on, left), await openRound(on, right)];
    await on.change(left.run.id, newTransition({ cancelled: [left.stageRun.id] }));
    expect(await read(on, dropped)).toMatchObject({ status: 'cancelled' });
    expect(await read(on, kept)).toMatchObject({ status: 'open' });
    expect(await inbox(on, 'u1')).toEqual([kept.id]);
  });

  it('I3: nothing treats a round as open whose stage run has ended by itself', async (on) => {
    const job = await on.startAndClaim({ transition: group(['left', 'right']) });
    const round = await openRound(on, job);
    await on.settle([joined(job)], () => newTransition());
    expect(await read(on, round)).toMatchObject({ status: 'cancelled' });
    expect(await inbox(on, 'u1')).toEqual([]);
    expect((await ask(on, round, deciding('u1'))).answer).toBe('ROUND_CLOSED');
  });
}
