import type { ClaimedJob, EventMatch, EventWait, NewEvent, OpenWait } from '../../../engine/ports/index.js';
import { newId } from '../builders.js';
import { awaiting, begin, digestOf, eventWait, finish, newEvent, sleep, suspending } from '../step-builders.js';
import type { StoreUnderTest } from '../store-under-test.js';
import type { StoreSuite } from '../suite.js';

const DAY_MS = 86_400_000;

/** Suspends a new run until an event comes. */
async function listening(
  on: StoreUnderTest,
  given: Partial<OpenWait> = {},
  ownerId: string | null = null,
): Promise<ClaimedJob> {
  const job = await on.startAndClaim({ ownerId });
  await on.suspend(suspending(job, [eventWait('event', given)]));
  return job;
}

async function store(on: StoreUnderTest, given: Partial<NewEvent> = {}): Promise<NewEvent> {
  const event = newEvent(given);
  await on.store.storeEvent(event);
  return event;
}

const matchOf = (job: ClaimedJob, { id }: NewEvent, key = 'event'): EventMatch => ({
  runId: job.run.id,
  stageRunId: job.stageRun.id,
  key,
  eventId: id,
});

/** Run ids of the waits that could take an event. */
const listeners = async (on: StoreUnderTest, event: NewEvent): Promise<string[]> =>
  (await on.store.findWaits(event, null, 100)).waits.map(({ runId }) => runId).sort();

/** Events that could end the only unchecked wait of a stage run. */
async function lyingThere(on: StoreUnderTest, job: ClaimedJob): Promise<string[]> {
  const { events } = await on.store.findEvents(await onlyWait(on, job), null, 100);
  return events.map(({ id }) => id);
}

async function onlyWait(on: StoreUnderTest, job: ClaimedJob): Promise<EventWait> {
  const [wait] = await on.store.uncheckedWaits([job.stageRun.id], 10);
  if (wait === undefined) throw new Error('It waits for no event, or was looked up already.');
  return wait;
}

/** Events, and the waits that they end. */
export function describeEvents({ it, expect }: StoreSuite): void {
  it('WAIT-1: an event is stored, found by the waits for its key, and ends them', async (on) => {
    const job = await listening(on, { where: 'payload.amount > 0' });
    const event = newEvent({ payload: '{"amount":"\\u0000 1.0"}', subject: { type: 'invoice', id: '7' } });
    expect(await on.store.storeEvent(event)).toBe(true);
    expect(await on.isAnythingDue()).toBe(false);
    expect(await on.store.findWaits(event, null, 10)).toEqual({
      waits: [
        {
          runId: job.run.id,
          stageRunId: job.stageRun.id,
          key: 'event',
          ownerId: null,
          eventKey: 'paid',
          subject: null,
          where: 'payload.amount > 0',
          overdue: false,
        },
      ],
      next: null,
    });
    const match = matchOf(job, event);
    expect(await on.store.fireEvents([match])).toEqual({ fired: [match], busy: [] });
    expect(await on.step(job, 'event')).toMatchObject({
      status: 'completed',
      result: '{"amount":"\\u0000 1.0"}',
      timedOut: false,
      seq: null,
    });
    expect((await on.claimAgain(job)).stageRun.attempt).toBe(1);
    expect(await listeners(on, event)).toEqual([]);
  });

  it('FAULT D1: an event that was there before the wait is found by it', async (on) => {
    const early = await store(on, { subject: { type: 'invoice', id: '7' }, payload: '1' });
    const job = await listening(on);
    const wait = await onlyWait(on, job);
    expect(await on.store.findEvents(wait, null, 10)).toEqual({
      events: [{ id: early.id, ownerId: null, key: 'paid', subject: { type: 'invoice', id: '7' }, payload: '1' }],
      next: null,
    });
    await on.store.fireEvents([matchOf(job, early)]);
    expect(await on.step(job, 'event')).toMatchObject({ status: 'completed', result: '1' });
    await on.claimAgain(job);
  });

  it('WAIT-3: an event that comes while the stage runs marks its wait', async (on) => {
    const job = await on.startAndClaim();
    await on.write(begin(job, 'work'), awaiting(job, [eventWait('event')]));
    const event = await store(on);
    expect(await listeners(on, event)).toEqual([job.run.id]);
    expect((await on.store.fireEvents([matchOf(job, event)])).fired).toHaveLength(1);
    expect((await on.stageRun(job.run.id, 'first')).status).toBe('RUNNING');
    await on.write(finish(job, 'work'));
    expect(await on.suspend(suspending(job, [], { keep: ['event'] }))).toMatchObject({ suspended: false });
    await on.claimAgain(job);
  });

  it('WAIT-3: a message that is sent twice is one event', async (on) => {
    const messageDigest = digestOf('message 1');
    expect(await on.store.storeEvent(newEvent({ messageDigest, payload: '1' }))).toBe(true);
    expect(await on.store.storeEvent(newEvent({ messageDigest, payload: '2' }))).toBe(false);
    expect(await on.store.storeEvent(newEvent({ messageDigest: digestOf('message 2') }))).toBe(true);
    expect(await on.store.unmatchedEvents(0, 10)).toHaveLength(2);
  });

  it('WAIT-3: an event that is stored again, since its answer was lost, is stored once', async (on) => {
    for (const messageDigest of [null, digestOf('message 1')]) {
      const event = newEvent({ messageDigest });
      expect(await on.store.storeEvent(event)).toBe(true);
      expect(await on.store.storeEvent(event)).toBe(true);
    }
    expect(await on.store.unmatchedEvents(0, 10)).toHaveLength(2);
  });

  it('WAIT-3: a message that two processes send at once is one event', async (on) => {
    for (let round = 0; round < 8; round++) {
      const messageDigest = digestOf(`message ${round}`);
      const stored = await Promise.all(
        [on.store, on.second].map((process) => process.storeEvent(newEvent({ messageDigest }))),
      );
      expect(stored.sort()).toEqual([false, true]);
    }
  });

  it('WAIT-3: an event reaches every run that waits for it', async (on) => {
    const jobs = [await listening(on), await listening(on), await listening(on, { eventKey: 'refunded' })];
    const event = await store(on);
    const [one, two] = jobs;
    if (one === undefined || two === undefined) throw new Error('Two runs wait for it.');
    expect(await listeners(on, event)).toEqual([one.run.id, two.run.id].sort());
    const { fired } = await on.store.fireEvents([matchOf(one, event), matchOf(two, event)]);
    expect(fired).toHaveLength(2);
    expect((await on.claim()).claimed.map(({ run }) => run.id).sort()).toEqual([one.run.id, two.run.id].sort());
  });

  it('WAIT-3: an event reaches a run once, however many of its waits it would end', async (on) => {
    const job = await on.startAndClaim();
    await on.suspend(suspending(job, [eventWait('a'), eventWait('b')]));
    const event = await store(on);
    expect(await listeners(on, event)).toEqual([job.run.id, job.run.id]);
    const both = [matchOf(job, event, 'a'), matchOf(job, event, 'b')];
    expect(await on.store.fireEvents(both)).toEqual({ fired: [both[0]], busy: [] });
    expect(await on.step(job, 'b')).toMatchObject({ status: 'waiting' });
    expect(await listeners(on, event)).toEqual([]);
    expect(await on.store.fireEvents(both)).toEqual({ fired: [], busy: [] });
    const next = await store(on);
    expect(await on.store.fireEvents([matchOf(job, next, 'b')])).toMatchObject({ fired: [{ key: 'b' }] });
  });

  it('WAIT-3: a run that waits for a key again gets the next event, not the one it had', async (on) => {
    const job = await listening(on);
    const [first, second] = [await store(on, { payload: '1' }), await store(on, { payload: '2' })];
    await on.store.fireEvents([matchOf(job, first)]);
    const again = await on.claimAgain(job);
    const orders = [{ key: 'event', seq: 1 }];
    await on.suspend(suspending(again, [eventWait('event 2')], { orders }));
    expect(await lyingThere(on, job)).toEqual([second.id]);
    expect(await on.store.fireEvents([matchOf(job, first, 'event 2')])).toEqual({ fired: [], busy: [] });
  });

  it('WAIT-3: two processes that match at once end a wait once', async (on) => {
    for (let round = 0; round < 8; round++) {
      const job = await listening(on);
      const [one, two] = [await store(on, { payload: '1' }), await store(on, { payload: '2' })];
      const answers = await Promise.all([
        on.store.fireEvents([matchOf(job, one)]),
        on.second.fireEvents([matchOf(job, two)]),
      ]);
      const fired = answers.flatMap((answer) => answer.fired);
      expect(fired).toHaveLength(1);
      const result = fired[0]?.eventId === one.id ? '1' : '2';
      expect(await on.step(job, 'event')).toMatchObject({ status: 'completed', result });
      await on.claimAgain(job);
    }
  });

  it('TRIG-4: events reach waits of the same owner only; no owner is an owner of its own', async (on) => {
    const owners = ['acme', 'other', null];
    const jobs: ClaimedJob[] = [];
    for (const owner of owners) jobs.push(await listening(on, {}, owner));
    for (const [nr, ownerId] of owners.entries()) {
      const event = await store(on, { ownerId });
      expect(await listeners(on, event)).toEqual([jobs[nr]?.run.id]);
    }
    const late = await listening(on, {}, 'acme');
    const [acme] = (await on.store.findEvents(await onlyWait(on, late), null, 10)).events;
    expect(acme).toMatchObject({ ownerId: 'acme' });
    expect(await lyingThere(on, late)).toHaveLength(1);
  });

  it('WAIT-1: a wait that names a subject takes events about it only; one that names none takes any', async (on) => {
    const seven = { type: 'invoice', id: '7' };
    const [about, any] = [await listening(on, { subject: seven }), await listening(on)];
    const [fits, type, id, none] = [
      await store(on, { subject: seven }),
      await store(on, { subject: { type: 'order', id: '7' } }),
      await store(on, { subject: { type: 'invoice', id: '8' } }),
      await store(on),
    ];
    expect(await listeners(on, fits)).toEqual([about.run.id, any.run.id].sort());
    for (const event of [type, id, none]) expect(await listeners(on, event)).toEqual([any.run.id]);
    expect((await onlyWait(on, about)).subject).toEqual(seven);
    expect(await lyingThere(on, about)).toEqual([fits.id]);
    expect(await lyingThere(on, any)).toEqual([fits, type, id, none].map((event) => event.id));
  });

  it('WAIT-3: an event recorded after the limit of a wait is too late, whenever it is matched', async (on) => {
    const job = await listening(on, { expiresInMs: 60_000 });
    on.travel(61_000);
    const late = await store(on);
    expect(await onlyWait(on, job)).toMatchObject({ overdue: true });
    expect(await listeners(on, late)).toEqual([]);
    expect(await lyingThere(on, job)).toEqual([]);
    expect(await on.store.fireEvents([matchOf(job, late)])).toEqual({ fired: [], busy: [] });
    expect(await on.step(job, 'event')).toMatchObject({ status: 'waiting' });
  });

  it('WAIT-3: an event recorded before the limit wins over it, though it is matched after', async (on) => {
    const job = await listening(on, { expiresInMs: 60_000 });
    const early = await store(on);
    on.travel(61_000);
    const [overdue] = await on.store.overdueEventWaits(10, 0);
    expect(overdue).toMatchObject({ runId: job.run.id, key: 'event', overdue: true });
    if (overdue === undefined) return;
    expect((await on.store.findEvents(overdue, null, 10)).events.map(({ id }) => id)).toEqual([early.id]);
    expect(await listeners(on, early)).toEqual([job.run.id]);
    expect((await on.store.fireEvents([matchOf(job, early)])).fired).toHaveLength(1);
    expect(await on.store.fireTimeouts([overdue], 0)).toBe(0);
    expect(await on.step(job, 'event')).toMatchObject({ status: 'completed', timedOut: false });
  });

  it('WAIT-2: a wait past its limit times out, and its stage goes on', async (on) => {
    const [job, later] = [await listening(on, { expiresInMs: 60_000 }), await listening(on, { expiresInMs: 600_000 })];
    await listening(on);
    expect(await on.store.overdueEventWaits(10, 0)).toEqual([]);
    on.travel(61_000);
    const overdue = await on.store.overdueEventWaits(10, 0);
    expect(overdue.map(({ runId }) => runId)).toEqual([job.run.id]);
    const notYet = await onlyWait(on, later);
    expect(await on.store.fireTimeouts([...overdue, notYet], 0)).toBe(1);
    expect(await on.step(job, 'event')).toMatchObject({ status: 'completed', timedOut: true, seq: null });
    await on.claimAgain(job);
    expect(await on.step(later, 'event')).toMatchObject({ status: 'waiting' });
    const event = await store(on);
    expect(await on.store.fireEvents([matchOf(job, event)])).toEqual({ fired: [], busy: [] });
  });

  it('WAKE-5: a limit is judged at the instant of the pass', async (on) => {
    const job = await listening(on, { expiresInMs: 600_000 });
    expect(await on.store.overdueEventWaits(10, 540_000)).toEqual([]);
    expect((await on.probe({ aheadMs: 660_000 })).eventWaitsOverdue).toBe(true);
    const overdue = await on.store.overdueEventWaits(10, 660_000);
    expect(overdue).toHaveLength(1);
    expect(await on.store.fireTimeouts(overdue, 0)).toBe(0);
    expect(await on.store.fireTimeouts(overdue, 660_000)).toBe(1);
    await on.claimAgain(job);
  });

  it('FAULT D9: of an event and the limit at once one ends the wait', async (on) => {
    for (let round = 0; round < 8; round++) {
      const job = await listening(on, { expiresInMs: 60_000 });
      const event = await store(on);
      on.travel(61_000);
      const overdue = await on.store.overdueEventWaits(10, 0);
      const [{ fired }, timeouts] = await Promise.all([
        on.store.fireEvents([matchOf(job, event)]),
        on.second.fireTimeouts(overdue, 0),
      ]);
      expect(fired.length + timeouts).toBe(1);
      expect(await on.step(job, 'event')).toMatchObject({ status: 'completed', timedOut: timeouts === 1 });
      expect((await on.claim()).claimed).toHaveLength(1);
    }
  });

  it('WAIT-2: what ended otherwise, or nobody awaits any more, takes no event', async (on) => {
    const job = await on.startAndClaim();
    await on.write(awaiting(job, [eventWait('loser')]));
    await on.suspend(suspending(job, [sleep('nap', 60_000)]));
    const cancelled = await listening(on);
    await on.cancel(cancelled.run.id);
    const event = await store(on);
    expect(await listeners(on, event)).toEqual([]);
    const matches = [matchOf(job, event, 'loser'), matchOf(job, event, 'nap'), matchOf(cancelled, event)];
    expect(await on.store.fireEvents([...matches, matchOf(job, newEvent(), 'loser')])).toEqual({ fired: [], busy: [] });
    expect(await on.isAnythingDue()).toBe(false);
  });

  it('WAKE-6: waits are found in pages', async (on) => {
    const runs: string[] = [];
    for (let nr = 0; nr < 5; nr++) runs.push((await listening(on)).run.id);
    const event = await store(on);
    const found: string[] = [];
    let cursor: string | null = null;
    let pages = 0;
    do {
      const { waits, next }: { waits: EventWait[]; next: string | null } = await on.store.findWaits(event, cursor, 2);
      found.push(...waits.map(({ runId }) => runId));
      cursor = next;
      pages++;
    } while (cursor !== null && pages < 10);
    expect(found.sort()).toEqual(runs.sort());
    expect(pages).toBeLessThanOrEqual(4);
  });

  it('WAIT-3: events kept are found oldest first, in pages', async (on) => {
    const ids: string[] = [];
    for (let nr = 0; nr < 5; nr++) ids.push((await store(on)).id);
    const wait = await onlyWait(on, await listening(on));
    const found: string[] = [];
    let cursor: string | null = null;
    let pages = 0;
    do {
      const page: Awaited<ReturnType<typeof on.store.findEvents>> = await on.store.findEvents(wait, cursor, 2);
      found.push(...page.events.map(({ id }) => id));
      cursor = page.next;
      pages++;
    } while (cursor !== null && pages < 10);
    expect(found).toEqual(ids);
  });

  it('WAKE-3: events whose matching is not known to have ended are found again', async (on) => {
    const [first, second] = [await store(on), await store(on)];
    expect(await on.store.unmatchedEvents(60_000, 10)).toEqual([]);
    expect((await on.probe()).unmatched).toBe(false);
    on.travel(61_000);
    expect((await on.probe()).unmatched).toBe(true);
    const found = await on.store.unmatchedEvents(60_000, 10);
    expect(found.map(({ id }) => id)).toEqual([first.id, second.id]);
    expect(found[0]).toEqual({ id: first.id, ownerId: null, key: 'paid', subject: null, payload: first.payload });
    expect(await on.store.unmatchedEvents(60_000, 1)).toHaveLength(1);
    await on.store.markMatched([first.id, newId()]);
    expect((await on.store.unmatchedEvents(0, 10)).map(({ id }) => id)).toEqual([second.id]);
    await on.store.markMatched([second.id]);
    expect((await on.probe()).unmatched).toBe(false);
    // Later waits find it all the same.
    expect(await lyingThere(on, await listening(on))).toEqual([first.id, second.id]);
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
    const event = await store(on);
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

  it('WAIT-3: events are kept for as long as they are to be, and removed in batches', async (on) => {
    for (let nr = 0; nr < 3; nr++) await store(on);
    on.travel(5 * DAY_MS);
    const young = await store(on);
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
    expect((await on.store.unmatchedEvents(0, 10)).map(({ id }) => id)).toEqual([young.id]);
    on.travel(5 * DAY_MS);
    expect(await on.store.pruneEvents(7 * DAY_MS, 10)).toBe(2);
  });

  it('WAKE-5: how long events are kept is judged on the clock of the store', async (on) => {
    await store(on);
    expect((await on.probe({ aheadMs: 30 * DAY_MS, eventRetentionMs: 7 * DAY_MS })).expiredEvents).toBe(false);
  });
}
