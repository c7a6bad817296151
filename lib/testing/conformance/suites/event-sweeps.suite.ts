import type { Cursor, StoredEvent } from '../../../engine/ports/index.js';
import { newId } from '../builders.js';
import { listening, storeOne, listeners, lyingThere, onlyWait } from '../listeners.js';
import { awaiting, eventWait, newEvent, sleep, suspending } from '../step-builders.js';
import type { StoreSuite } from '../suite.js';

const DAY_MS = 86_400_000;

/** Matching that did not end is done again, from both sides; and how long events are kept. */
export function describeEventSweeps({ it, expect }: StoreSuite): void {
  it('WAKE-3: events whose matching is not known to have ended are found again', async (on) => {
    const [first, second] = [await storeOne(on), await storeOne(on)];
    expect((await on.store.unmatchedEvents(60_000, null, 10)).events).toEqual([]);
    expect((await on.probe()).unmatched).toBe(false);
    on.travel(61_000);
    expect((await on.probe()).unmatched).toBe(true);
    const found = (await on.store.unmatchedEvents(60_000, null, 10)).events;
    expect(found.map(({ id }) => id)).toEqual([first.id, second.id]);
    expect(found[0]).toEqual({
      id: first.id,
      ownerId: null,
      key: 'paid',
      subject: null,
      payload: first.payload,
      source: null,
    });
    expect((await on.store.unmatchedEvents(60_000, null, 1)).events).toHaveLength(1);
    await on.store.markMatched([first.id, newId()]);
    expect((await on.store.unmatchedEvents(0, null, 10)).events.map(({ id }) => id)).toEqual([second.id]);
    await on.store.markMatched([second.id]);
    expect((await on.probe()).unmatched).toBe(false);
    // Later waits find it all the same.
    expect(await lyingThere(on, await listening(on))).toEqual([first.id, second.id]);
  });

  it('WAKE-3: they come in pages, each once, those of one instant by their ids', async (on) => {
    const stored: string[] = [];
    for (let nr = 0; nr < 5; nr++) {
      stored.push((await storeOne(on)).id);
      if (nr % 2 === 1) on.travel(1);
    }
    const found: string[] = [];
    let after: Cursor = null;
    do {
      const page: { events: StoredEvent[]; next: Cursor } = await on.store.unmatchedEvents(0, after, 2);
      found.push(...page.events.map(({ id }) => id));
      after = page.next;
      // What has gone from a page moves none of the next.
      await on.store.markMatched([page.events[0]?.id ?? newId()]);
    } while (after !== null);
    expect(found).toEqual(stored);
  });

  it('WAKE-3: waits that nobody has looked up events for come in pages, each behind the one before', async (on) => {
    const runs: string[] = [];
    for (let n = 0; n < 3; n++) runs.push((await listening(on)).run.id);
    on.travel(1);
    const [first, ...none] = await on.store.uncheckedWaits({ olderThanMs: 0 }, 1);
    expect([first?.runId, none]).toEqual([runs[0], []]);
    const rest = await on.store.uncheckedWaits({ olderThanMs: 0, after: first! }, 10);
    expect(rest.map(({ runId }) => runId)).toEqual(runs.slice(1));
    await on.store.markChecked([first!]);
    expect(await on.store.uncheckedWaits({ olderThanMs: 0, after: first! }, 10)).toEqual(rest);
    expect(await on.store.uncheckedWaits({ olderThanMs: 0, after: rest[1]! }, 10)).toEqual([]);
  });

  it('WAKE-3: waits that nobody has looked up events for are found again', async (on) => {
    const [job, other] = [await listening(on), await listening(on)];
    expect(await on.store.uncheckedWaits({ olderThanMs: 60_000 }, 10)).toEqual([]);
    expect((await on.probe()).unmatched).toBe(false);
    expect(await on.store.uncheckedWaits([], 10)).toEqual([]);
    const [wait] = await on.store.uncheckedWaits([job.stageRun.id], 10);
    expect(wait).toMatchObject({ runId: job.run.id, key: 'event' });
    on.travel(61_000);
    expect((await on.probe()).unmatched).toBe(true);
    expect(await on.store.uncheckedWaits({ olderThanMs: 60_000 }, 10)).toHaveLength(2);
    expect(await on.store.uncheckedWaits({ olderThanMs: 60_000 }, 1)).toHaveLength(1);
    await on.store.markChecked(wait === undefined ? [] : [wait]);
    const left = await on.store.uncheckedWaits({ olderThanMs: 60_000 }, 10);
    expect(left.map(({ runId }) => runId)).toEqual([other.run.id]);
    await on.store.markChecked(left);
    expect((await on.probe()).unmatched).toBe(false);
  });

  it('WAIT-3: an event that came while nobody awaited it is looked up when it is awaited again', async (on) => {
    const job = await on.startAndClaim();
    await on.write(awaiting(job, [eventWait('event')]));
    await on.store.markChecked([await onlyWait(on, job)]);
    await on.suspend(suspending(job, [sleep('nap', 60_000)]));
    const event = await storeOne(on);
    expect(await listeners(on, event)).toEqual([]);
    await on.store.markMatched([event.id]);
    on.travel(61_000);
    await on.fire();
    const again = await on.claimAgain(job);
    await on.suspend(suspending(again, [eventWait('event')], { orders: [{ key: 'nap', seq: 1 }] }));
    expect(await lyingThere(on, job)).toEqual([event.id]);
  });

  it('WAIT-3: a wait that stands and was looked up is not looked up again', async (on) => {
    const job = await on.startAndClaim();
    await on.write(awaiting(job, [eventWait('event')]));
    await on.store.markChecked([await onlyWait(on, job)]);
    await on.suspend(suspending(job, [eventWait('event')]));
    expect(await on.store.uncheckedWaits([job.stageRun.id], 10)).toEqual([]);
  });

  it('WAIT-3: a wait that is for something else now is looked up again', async (on) => {
    const job = await on.startAndClaim();
    const subject = { type: 'order', id: '1' };
    await on.write(awaiting(job, [eventWait('event')]));
    for (const changed of [{ eventKey: 'other' }, { subject }, { subject, where: 'event.amount > 1' }]) {
      await on.store.markChecked([await onlyWait(on, job)]);
      expect(await on.store.uncheckedWaits([job.stageRun.id], 10)).toEqual([]);
      await on.write(awaiting(job, [eventWait('event', { ...changed, epoch: 1 })]));
      expect(await on.store.uncheckedWaits([job.stageRun.id], 10)).toHaveLength(1);
    }
  });

  it('WAIT-3: events are kept for as long as they are to be, and removed in batches', async (on) => {
    for (let nr = 0; nr < 3; nr++) await storeOne(on);
    on.travel(5 * DAY_MS);
    const young = await storeOne(on);
    const run = await on.start();
    await on.store.sendSignal(newEvent({ key: 'approve' }), run.id, { all: true });
    expect((await on.probe({ eventRetentionMs: 7 * DAY_MS })).expiredEvents).toBe(false);
    expect(await on.store.pruneEvents(7 * DAY_MS, 10)).toBe(0);
    on.travel(3 * DAY_MS);
    expect((await on.probe({ eventRetentionMs: 7 * DAY_MS })).expiredEvents).toBe(true);
    expect(await on.store.pruneEvents(7 * DAY_MS, 2)).toBe(2);
    expect(await on.store.pruneEvents(7 * DAY_MS, 2)).toBe(1);
    expect(await on.store.pruneEvents(7 * DAY_MS, 2)).toBe(0);
    expect((await on.probe({ eventRetentionMs: 7 * DAY_MS })).expiredEvents).toBe(false);
    expect((await on.store.unmatchedEvents(0, null, 10)).events.map(({ id }) => id)).toEqual([young.id]);
    on.travel(5 * DAY_MS);
    expect(await on.store.pruneEvents(7 * DAY_MS, 10)).toBe(2);
  });

  it('WAKE-5: how long events are kept is judged on the clock of the store', async (on) => {
    await storeOne(on);
    expect((await on.probe({ aheadMs: 30 * DAY_MS, eventRetentionMs: 7 * DAY_MS })).expiredEvents).toBe(false);
  });
}
