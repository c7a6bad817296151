import type {
  ClaimedSchedule,
  NewTrigger,
  ScheduleMove,
  TriggerRow,
  TriggersInForce,
} from '../../../engine/ports/index.js';
import { newId, newRun } from '../builders.js';
import { EVERYBODY, type StoreUnderTest } from '../store-under-test.js';
import type { StoreSuite } from '../suite.js';

const LEASE_MS = 60_000;

const schedule = (triggerId: string, given: Partial<NewTrigger> = {}): NewTrigger => ({
  id: newId(),
  triggerId,
  type: 'schedule',
  spec: JSON.stringify({ id: triggerId, type: 'schedule', cron: '0 9 * * *' }),
  fingerprint: '0 9 * * * UTC',
  eventKey: null,
  ...given,
});

const inForce = (triggers: readonly NewTrigger[], given: Partial<TriggersInForce> = {}): TriggersInForce => ({
  ownerId: null,
  definitionId: 'orders',
  definitionVersion: 1,
  triggers,
  ...given,
});

const move = ({ id, version, asOf }: ClaimedSchedule, given: Partial<ScheduleMove> = {}): ScheduleMove => ({
  id,
  version,
  cursor: asOf,
  next: asOf + 3_600_000,
  runId: null,
  outcome: null,
  error: null,
  started: 0,
  passedOver: 0,
  ...given,
});

const list = (on: StoreUnderTest): Promise<TriggerRow[]> => on.store.listTriggers({ limit: 100 }, EVERYBODY);

const claim = (on: StoreUnderTest, aheadMs = 0, limit = 100): Promise<ClaimedSchedule[]> =>
  on.store.claimSchedules(limit, aheadMs, LEASE_MS);

async function only(claimed: Promise<ClaimedSchedule[]>): Promise<ClaimedSchedule> {
  const [first, ...others] = await claimed;
  if (first === undefined || others.length > 0) throw new Error('Not one schedule was claimed.');
  return first;
}

const probeOf = (on: StoreUnderTest, aheadMs = 0) => on.probe({ aheadMs });

export function describeTriggers({ it, expect }: StoreSuite): void {
  it('TRIG-1: a trigger that is the same in the next version keeps its id and its place in time', async (on) => {
    await on.store.putTriggers(inForce([schedule('daily'), schedule('other')]));
    const [before] = await list(on);
    const claimed = await claim(on);
    await on.store.moveSchedules(claimed.map((one) => move(one, { started: 1, outcome: 'started', runId: newId() })));
    const moved = await list(on);
    on.travel(60_000);
    const spec = JSON.stringify({ id: 'daily', type: 'schedule', cron: '0 9 * * *', overlap: 'skip' });
    await on.store.putTriggers(inForce([schedule('daily', { spec })], { definitionVersion: 2 }));
    const [daily, other] = await list(on);
    expect(daily).toEqual({ ...moved[0], spec, definitionVersion: 2 });
    expect(daily?.id).toBe(before?.id);
    expect([other?.status, other?.nextAt]).toEqual(['retired', null]);
  });

  it('TRIG-1: one that is new, changed or back begins now: nothing of the past is due', async (on) => {
    await on.store.putTriggers(inForce([schedule('daily')]));
    await on.store.moveSchedules([move(await only(claim(on)))]);
    const [old] = await list(on);
    on.travel(86_400_000);
    const changed = schedule('daily', { fingerprint: '0 8 * * * UTC' });
    await on.store.putTriggers(inForce([changed]));
    const [row] = await list(on);
    expect(row?.id).toBe(old?.id);
    expect(Date.parse(row!.lastAt!) - Date.parse(old!.lastAt!)).toBeGreaterThan(86_399_999);
    expect(row?.nextAt).toBe(row?.lastAt);
    await on.store.putTriggers(inForce([]));
    on.travel(86_400_000);
    await on.store.putTriggers(inForce([changed]));
    const [back] = await list(on);
    expect(back?.id).toBe(old?.id);
    expect(Date.parse(back!.lastAt!) - Date.parse(row!.lastAt!)).toBeGreaterThan(86_399_999);
  });

  it('TRIG-2: a trigger of another type is another one, with an address of its own', async (on) => {
    const hook = schedule('hook', { type: 'webhook', fingerprint: 'webhook' });
    await on.store.putTriggers(inForce([hook]));
    expect(await list(on)).toMatchObject([
      { id: hook.id, type: 'webhook', lastAt: null, nextAt: null, status: 'active' },
    ]);
    const daily = schedule('hook');
    await on.store.putTriggers(inForce([daily]));
    expect(await list(on)).toMatchObject([{ id: daily.id, type: 'schedule' }]);
  });

  it('TRIG-2: what a trigger did is added up, what it did last is kept; of a schedule, or of none, nothing is noted', async (on) => {
    const hook = schedule('hook', { type: 'webhook', fingerprint: 'webhook' });
    const daily = schedule('daily');
    await on.store.putTriggers(inForce([daily, hook]));
    const [untouched] = await list(on);
    const runId = newId();
    const nothing = { runId: null, outcome: null, error: null, started: 0, passedOver: 0 };
    const notes = [
      { runId, outcome: 'started', started: 1 },
      { outcome: 'failed', error: 'No input.', passedOver: 1 },
    ] as const;
    for (const id of [hook.id, daily.id, newId()])
      for (const note of notes) await on.store.noteTrigger(id, { ...nothing, ...note });
    const failed = { lastRunId: runId, lastOutcome: 'failed', lastError: 'No input.', started: 1, passedOver: 1 };
    const [schedules, hooks] = await list(on);
    expect(schedules).toEqual(untouched);
    expect(hooks).toMatchObject({ triggerId: 'hook', ...failed });
    expect(hooks?.lastAt).not.toBeNull();
    await on.store.noteTrigger(hook.id, { ...nothing, outcome: 'started', started: 1 });
    expect((await list(on))[1]).toMatchObject({ ...failed, lastOutcome: 'started', lastError: null, started: 2 });
  });

  it('OWNER-4: an owner has triggers of his own, and sees those that all share', async (on) => {
    await on.store.putTriggers(inForce([schedule('daily')]));
    await on.store.putTriggers(inForce([schedule('daily')], { ownerId: 'acme' }));
    await on.store.putTriggers(inForce([schedule('daily')], { ownerId: 'globex' }));
    await on.store.putTriggers(inForce([schedule('else')], { ownerId: 'acme', definitionId: 'invoices' }));
    const seen = async (scope: Parameters<typeof on.store.listTriggers>[1], definitionId?: string) =>
      (await on.store.listTriggers({ limit: 100, ...(definitionId !== undefined && { definitionId }) }, scope)).map(
        (row) => `${row.definitionId} ${row.ownerId ?? '-'}`,
      );
    expect(await seen({ owner: 'acme' })).toEqual(['invoices acme', 'orders -', 'orders acme']);
    expect(await seen({ owner: null })).toEqual(['orders -']);
    expect(await seen(EVERYBODY, 'orders')).toEqual(['orders -', 'orders acme', 'orders globex']);
    await on.store.putTriggers(inForce([], { ownerId: 'acme' }));
    expect((await list(on)).filter((row) => row.status === 'retired').map((row) => row.ownerId)).toEqual(['acme']);
  });

  it('TRIG-1: a schedule that is due is claimed by one, until its lease is over', async (on) => {
    await on.store.putTriggers(inForce([schedule('daily')]));
    const first = await only(claim(on));
    expect(first).toMatchObject({
      definitionId: 'orders',
      definitionVersion: 1,
      triggerId: 'daily',
      lastRunOpen: false,
    });
    expect(await on.second.claimSchedules(100, 365 * 86_400_000, LEASE_MS)).toEqual([]);
    expect(await on.second.nextScheduleIn(0)).toBeNull();
    on.travel(LEASE_MS + 1);
    const [second] = await on.second.claimSchedules(100, 0, LEASE_MS);
    expect([second?.id, second?.cursor]).toEqual([first.id, first.cursor]);
    // The first one is alive after all: what it writes is not what stands.
    expect(await on.store.moveSchedules([move(first)])).toBe(0);
    expect(await on.second.moveSchedules([move(second!)])).toBe(1);
  });

  it('TRIG-1: what is published anew is not moved by whoever was at the version before', async (on) => {
    await on.store.putTriggers(inForce([schedule('daily')]));
    const claimed = await only(claim(on));
    await on.store.putTriggers(inForce([schedule('daily')], { definitionVersion: 2 }));
    expect(await on.store.moveSchedules([move(claimed)])).toBe(0);
    // Nor held up by his lease.
    const again = await only(claim(on));
    expect([again.definitionVersion, again.cursor]).toEqual([2, claimed.cursor]);
    await on.store.putTriggers(inForce([]));
    expect(await on.store.moveSchedules([move(again)])).toBe(0);
    expect(await claim(on)).toEqual([]);
  });

  it('TRIG-1: one that was moved is due at its next instant, told ahead of time, and never without one', async (on) => {
    await on.store.putTriggers(inForce([schedule('daily')]));
    const claimed = await only(claim(on));
    await on.store.moveSchedules([move(claimed)]);
    expect(await claim(on)).toEqual([]);
    const inMs = (await on.store.nextScheduleIn(0))!;
    expect(inMs > 0 && inMs <= 3_600_000).toBe(true);
    const { schedulesDue, nextScheduleInMs } = await probeOf(on);
    expect(schedulesDue).toBe(false);
    expect(nextScheduleInMs! > 0 && nextScheduleInMs! <= 3_600_000).toBe(true);
    expect((await probeOf(on, 3_600_000)).schedulesDue).toBe(true);
    const ahead = await only(claim(on, 3_600_000));
    expect(ahead.asOf - claimed.asOf).toBeGreaterThan(3_599_999);
    expect(ahead.cursor).toBe(claimed.asOf);
    await on.store.moveSchedules([move(ahead, { next: null })]);
    expect(await claim(on, 365 * 86_400_000)).toEqual([]);
    expect(await on.store.nextScheduleIn(0)).toBeNull();
    expect((await probeOf(on)).nextScheduleInMs).toBeNull();
  });

  it('TRIG-1: whether the run before is open is told, and what a schedule did is kept', async (on) => {
    await on.store.putTriggers(inForce([schedule('daily')]));
    const run = newRun();
    await on.store.createRuns([run]);
    const note = { runId: run.id, outcome: 'started', started: 1 } as const;
    await on.store.moveSchedules([move(await only(claim(on)), { ...note, next: 0 })]);
    const open = await only(claim(on));
    expect(open.lastRunOpen).toBe(true);
    await on.store.moveSchedules([move(open, { outcome: 'overlap', passedOver: 1, next: 0 })]);
    expect(await list(on)).toMatchObject([
      { lastRunId: run.id, lastOutcome: 'overlap', lastError: null, started: 1, passedOver: 1 },
    ]);
    await on.cancel(run.id);
    const ended = await only(claim(on));
    expect(ended.lastRunOpen).toBe(false);
    await on.store.moveSchedules([move(ended, { outcome: 'failed', error: 'No input.', passedOver: 1, next: 0 })]);
    expect(await list(on)).toMatchObject([{ lastOutcome: 'failed', lastError: 'No input.', passedOver: 2 }]);
    await on.store.moveSchedules([move(await only(claim(on)))]);
    expect(await list(on)).toMatchObject([{ lastOutcome: 'failed', lastError: 'No input.', passedOver: 2 }]);
  });

  it('TRIG-1: those that are due longest come first, no more than asked for', async (on) => {
    await on.store.putTriggers(inForce([schedule('a'), schedule('b'), schedule('c')]));
    const claimed = await claim(on);
    const back = new Map([...claimed].map((one, at) => [one.id, [20, 10, 30][at]!]));
    await on.store.moveSchedules(claimed.map((one) => move(one, { next: one.asOf - back.get(one.id)! })));
    const order = (await claim(on, 0, 2)).map(({ id }) => back.get(id));
    expect(order).toEqual([30, 20]);
    expect((await claim(on)).map(({ id }) => back.get(id))).toEqual([10]);
  });
}
