import type { ClaimedJob, OpenWait } from '../../../engine/ports/index.js';
import { followedBy, linear } from '../builders.js';
import { matchOf, storeOne } from '../listeners.js';
import { awaiting, eventWait, newSignal, signalWait, sleep, suspending } from '../step-builders.js';
import { EVERYBODY, type StoreUnderTest } from '../store-under-test.js';
import type { StoreSuite } from '../suite.js';

/**
 * Waits that an attempt left behind which knew nothing of them: they were opened by one that lost its lease. Their stage has ended, the
 * run goes on with its second one.
 */
export function describeAbandonedWaits({ it, expect }: StoreSuite): void {
  async function leftBehind(
    on: StoreUnderTest,
    ...waits: OpenWait[]
  ): Promise<{ first: ClaimedJob; second: ClaimedJob }> {
    const first = await on.startAndClaim();
    await on.write(awaiting(first, waits));
    await on.store.record([linear(first, { transition: followedBy({ key: 'second', node: 'second' }) })]);
    const second = await on.claimOne();
    expect(second.stageRun.key).toBe('second');
    return { first, second };
  }

  it('WAIT-2: a signal is for the stage that waits, not for one that has moved on', async (on) => {
    const { first, second } = await leftBehind(on, signalWait('old', { epoch: 9 }));
    await on.suspend(suspending(second, [signalWait('new')]));
    expect(await on.store.sendSignal(newSignal({ payload: '1' }), second.run.id, EVERYBODY)).toBe('delivered');
    expect(await on.step(second, 'new')).toMatchObject({ status: 'completed', result: '1' });
    expect(await on.step(first, 'old')).toMatchObject({ result: null });
    await on.claimAgain(second);
  });

  it('WAIT-2: with nobody else there it stays for whoever waits next', async (on) => {
    const { first, second } = await leftBehind(on, signalWait('old'));
    expect(await on.store.sendSignal(newSignal({ payload: '1' }), second.run.id, EVERYBODY)).toBe('stored');
    expect(await on.step(first, 'old')).toMatchObject({ result: null });
    expect(await on.suspend(suspending(second, [signalWait('new')]))).toMatchObject({ suspended: false });
    expect(await on.step(second, 'new')).toMatchObject({ status: 'completed', result: '1' });
  });

  it('WAIT-2: an event ends no wait of a stage that has moved on', async (on) => {
    const { first, second } = await leftBehind(on, eventWait('old'));
    await on.suspend(suspending(second, [eventWait('new')]));
    const event = await storeOne(on);
    expect(await on.store.fireEvents([matchOf(first, event, 'old')])).toEqual({ fired: [], busy: [] });
    expect((await on.store.fireEvents([matchOf(second, event, 'new')])).fired).toHaveLength(1);
    expect(await on.step(first, 'old')).toMatchObject({ result: null });
  });

  it('WAIT-2: the limit of such a wait is no timeout; it is cancelled', async (on) => {
    const { first } = await leftBehind(on, eventWait('old', { expiresInMs: 1_000 }));
    on.travel(2_000);
    const overdue = await on.store.overdueEventWaits(10, 0);
    expect(await on.store.fireTimeouts(overdue, 0)).toEqual({ fired: 0, ended: 1, busy: 0 });
    expect(await on.step(first, 'old')).toMatchObject({ status: 'cancelled', timedOut: false });
    expect(await on.isAnythingDue()).toBe(false);
  });

  it('WAKE-3: a page of such waits counts as dealt with, though nothing came of it', async (on) => {
    const { second } = await leftBehind(on, sleep('a', 1), sleep('b', 2), signalWait('c', { expiresInMs: 3 }));
    await on.suspend(suspending(second, [sleep('nap', 10)]));
    on.travel(1_000);
    const nothing = { timers: 0, timeouts: 0, polls: 0, retries: 0, resumed: 0 };
    expect(await on.store.fireDue(3, 0)).toMatchObject({ ...nothing, ended: 3, more: true });
    expect(await on.store.fireDue(3, 0)).toMatchObject({ ...nothing, timers: 1, resumed: 1, ended: 1, more: false });
  });
}
