import type { ClaimedJob, EventWait } from '../../../engine/ports/index.js';
import { listening, storeOne, matchOf, listeners, lyingThere, onlyWait } from '../listeners.js';
import { awaiting, begin, digestOf, eventWait, finish, newEvent, sleep, suspending } from '../step-builders.js';
import type { StoreSuite } from '../suite.js';

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
    const early = await storeOne(on, { subject: { type: 'invoice', id: '7' }, payload: '1' });
    const job = await listening(on);
    const wait = await onlyWait(on, job);
    expect(await on.store.findEvents(wait, null, 10)).toEqual({
      events: [
        { id: early.id, ownerId: null, key: 'paid', subject: { type: 'invoice', id: '7' }, payload: '1', source: null },
      ],
      next: null,
    });
    await on.store.fireEvents([matchOf(job, early)]);
    expect(await on.step(job, 'event')).toMatchObject({ status: 'completed', result: '1' });
    await on.claimAgain(job);
  });

  it('WAIT-3: an event that comes while the stage runs marks its wait', async (on) => {
    const job = await on.startAndClaim();
    await on.write(begin(job, 'work'), awaiting(job, [eventWait('event')]));
    const event = await storeOne(on);
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
    expect((await on.store.unmatchedEvents(0, null, 10)).events).toHaveLength(2);
  });

  it('WAIT-3: an event that is stored again, since its answer was lost, is stored once', async (on) => {
    for (const messageDigest of [null, digestOf('message 1')]) {
      const event = newEvent({ messageDigest });
      expect(await on.store.storeEvent(event)).toBe(true);
      expect(await on.store.storeEvent(event)).toBe(true);
    }
    expect((await on.store.unmatchedEvents(0, null, 10)).events).toHaveLength(2);
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
    const event = await storeOne(on);
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
    const event = await storeOne(on);
    expect(await listeners(on, event)).toEqual([job.run.id, job.run.id]);
    const both = [matchOf(job, event, 'a'), matchOf(job, event, 'b')];
    expect(await on.store.fireEvents(both)).toEqual({ fired: [both[0]], busy: [] });
    expect(await on.step(job, 'b')).toMatchObject({ status: 'waiting' });
    expect(await listeners(on, event)).toEqual([]);
    expect(await on.store.fireEvents(both)).toEqual({ fired: [], busy: [] });
    const next = await storeOne(on);
    expect(await on.store.fireEvents([matchOf(job, next, 'b')])).toMatchObject({ fired: [{ key: 'b' }] });
  });

  it('WAIT-3: a run that waits for a key again gets the next event, not the one it had', async (on) => {
    const job = await listening(on);
    const [first, second] = [await storeOne(on, { payload: '1' }), await storeOne(on, { payload: '2' })];
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
      const [one, two] = [await storeOne(on, { payload: '1' }), await storeOne(on, { payload: '2' })];
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
      const event = await storeOne(on, { ownerId });
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
      await storeOne(on, { subject: seven }),
      await storeOne(on, { subject: { type: 'order', id: '7' } }),
      await storeOne(on, { subject: { type: 'invoice', id: '8' } }),
      await storeOne(on),
    ];
    expect(await listeners(on, fits)).toEqual([about.run.id, any.run.id].sort());
    for (const event of [type, id, none]) expect(await listeners(on, event)).toEqual([any.run.id]);
    expect((await onlyWait(on, about)).subject).toEqual(seven);
    expect(await lyingThere(on, about)).toEqual([fits.id]);
    expect(await lyingThere(on, any)).toEqual([fits, type, id, none].map((event) => event.id));
  });

  it('WAIT-2: what ended otherwise, or nobody awaits any more, takes no event', async (on) => {
    const job = await on.startAndClaim();
    await on.write(awaiting(job, [eventWait('loser')]));
    await on.suspend(suspending(job, [sleep('nap', 60_000)]));
    const cancelled = await listening(on);
    await on.cancel(cancelled.run.id);
    const event = await storeOne(on);
    expect(await listeners(on, event)).toEqual([]);
    const matches = [matchOf(job, event, 'loser'), matchOf(job, event, 'nap'), matchOf(cancelled, event)];
    expect(await on.store.fireEvents([...matches, matchOf(job, newEvent(), 'loser')])).toEqual({ fired: [], busy: [] });
    expect(await on.isAnythingDue()).toBe(false);
  });

  it('WAKE-6: waits are found in pages', async (on) => {
    const runs: string[] = [];
    for (let nr = 0; nr < 5; nr++) runs.push((await listening(on)).run.id);
    const event = await storeOne(on);
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
    for (let nr = 0; nr < 5; nr++) ids.push((await storeOne(on)).id);
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
}
