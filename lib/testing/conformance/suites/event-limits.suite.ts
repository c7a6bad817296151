import { cancelling } from '../builders.js';
import { listening, storeOne, matchOf, listeners, lyingThere, onlyWait } from '../listeners.js';
import type { StoreSuite } from '../suite.js';

/** Events beside the limits of waits: what was recorded in time wins, what was not is too late. */
export function describeEventLimits({ it, expect }: StoreSuite): void {
  it('WAIT-3: an event recorded after the limit of a wait is too late, whenever it is matched', async (on) => {
    const job = await listening(on, { expiresInMs: 60_000 });
    on.travel(61_000);
    const late = await storeOne(on);
    expect(await onlyWait(on, job)).toMatchObject({ overdue: true });
    expect(await listeners(on, late)).toEqual([]);
    expect(await lyingThere(on, job)).toEqual([]);
    expect(await on.store.fireEvents([matchOf(job, late)])).toEqual({ fired: [], busy: [] });
    expect(await on.step(job, 'event')).toMatchObject({ status: 'waiting' });
  });

  it('WAIT-3: an event recorded before the limit wins over it, though it is matched after', async (on) => {
    const job = await listening(on, { expiresInMs: 60_000 });
    const early = await storeOne(on);
    on.travel(61_000);
    const [overdue] = await on.store.overdueEventWaits(10, 0);
    expect(overdue).toMatchObject({ runId: job.run.id, key: 'event', overdue: true });
    if (overdue === undefined) return;
    expect((await on.store.findEvents(overdue, null, 10)).events.map(({ id }) => id)).toEqual([early.id]);
    expect(await listeners(on, early)).toEqual([job.run.id]);
    expect((await on.store.fireEvents([matchOf(job, early)])).fired).toHaveLength(1);
    expect(await on.store.fireTimeouts([overdue], 0)).toMatchObject({ fired: 0 });
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
    expect(await on.store.fireTimeouts([...overdue, notYet], 0)).toMatchObject({ fired: 1 });
    expect(await on.step(job, 'event')).toMatchObject({ status: 'completed', timedOut: true, seq: null });
    await on.claimAgain(job);
    expect(await on.step(later, 'event')).toMatchObject({ status: 'waiting' });
    const event = await storeOne(on);
    expect(await on.store.fireEvents([matchOf(job, event)])).toEqual({ fired: [], busy: [] });
  });

  it('WAKE-3: waits past their limits come in pages, each behind the one before, whatever became of it', async (on) => {
    const runs: string[] = [];
    for (let n = 0; n < 3; n++) runs.push((await listening(on, { expiresInMs: 60_000 + n })).run.id);
    on.travel(61_000);
    const [first, ...none] = await on.store.overdueEventWaits(1, 0);
    expect([first?.runId, none]).toEqual([runs[0], []]);
    expect(await on.store.fireTimeouts([first!], 0)).toMatchObject({ fired: 1 });
    const rest = await on.store.overdueEventWaits(10, 0, first);
    expect(rest.map(({ runId }) => runId)).toEqual(runs.slice(1));
    expect(await on.store.overdueEventWaits(10, 0, rest[1])).toEqual([]);
  });

  it('WAIT-2: waits of a run that has ended take no event, and time out for nobody', async (on) => {
    const job = await listening(on, { expiresInMs: 60_000 });
    const event = await storeOne(on);
    await on.change(job.run.id, cancelling({ cancelOpen: false }));
    expect(await on.store.fireEvents([matchOf(job, event)])).toEqual({ fired: [], busy: [] });
    on.travel(61_000);
    const overdue = await on.store.overdueEventWaits(10, 0);
    expect(await on.store.fireTimeouts(overdue, 0)).toMatchObject({ fired: 0 });
    expect(await on.step(job, 'event')).toMatchObject({ result: null, timedOut: false });
    expect(await on.isAnythingDue()).toBe(false);
  });

  it('WAKE-5: a limit is judged at the instant of the pass', async (on) => {
    const job = await listening(on, { expiresInMs: 600_000 });
    expect(await on.store.overdueEventWaits(10, 540_000)).toEqual([]);
    expect((await on.probe({ aheadMs: 660_000 })).eventWaitsOverdue).toBe(true);
    const overdue = await on.store.overdueEventWaits(10, 660_000);
    expect(overdue).toHaveLength(1);
    expect(await on.store.fireTimeouts(overdue, 0)).toMatchObject({ fired: 0 });
    expect(await on.store.fireTimeouts(overdue, 660_000)).toMatchObject({ fired: 1 });
    await on.claimAgain(job);
  });

  it('FAULT D9: of an event and the limit at once one ends the wait', async (on) => {
    for (let round = 0; round < 8; round++) {
      const job = await listening(on, { expiresInMs: 60_000 });
      const event = await storeOne(on);
      on.travel(61_000);
      const overdue = await on.store.overdueEventWaits(10, 0);
      const [{ fired }, { fired: timeouts }] = await Promise.all([
        on.store.fireEvents([matchOf(job, event)]),
        on.second.fireTimeouts(overdue, 0),
      ]);
      expect(fired.length + timeouts).toBe(1);
      expect(await on.step(job, 'event')).toMatchObject({ status: 'completed', timedOut: timeouts === 1 });
      expect((await on.claim()).claimed).toHaveLength(1);
    }
  });
}
