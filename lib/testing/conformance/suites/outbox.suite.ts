import type { OutboxRow } from '../../../engine/ports/index.js';
import type { EngineEvent } from '../../../engine/state/rows.js';
import { newRun, newStageRun, newTransition } from '../builders.js';
import type { StoreUnderTest } from '../store-under-test.js';
import type { StoreSuite } from '../suite.js';

const ALL_SLOTS = 16;
const DAY_MS = 86_400_000;
const UNHEARD = { olderThanMs: 60_000, unheardForMs: DAY_MS };

/** Starts a run, then tells `count` events of it, a row each. */
async function tell(on: StoreUnderTest, count: number): Promise<string> {
  const run = await on.start({ transition: newTransition({ stageRuns: [newStageRun({ job: null })] }) });
  for (let n = 1; n <= count; n++) {
    await on.change(run.id, newTransition({ events: [{ type: 'run:started', data: { n } }] }));
  }
  return run.id;
}

/** Takes all slots for a relay and reads what waits. */
async function read(on: StoreUnderTest, relayId = 'relay-a'): Promise<OutboxRow[]> {
  return on.store.readOutbox(relayId, await on.store.leaseSlots(relayId, 60_000, ALL_SLOTS), 1_000);
}

const numbers = (rows: readonly OutboxRow[], runId: string): unknown[] =>
  rows
    .filter((row) => row.runId === runId)
    .flatMap((row) => (JSON.parse(row.events) as EngineEvent[]).map(({ data }) => data?.n));

export function describeOutbox({ it, expect }: StoreSuite): void {
  it('EVT-1: a relay leases all slots when nobody else does', async (on) => {
    const slots = await on.store.leaseSlots('relay-a', 60_000, 100);
    expect(slots).toHaveLength(ALL_SLOTS);
    expect(new Set(slots).size).toBe(ALL_SLOTS);
  });

  it('EVT-1: a slot is leased by one relay at a time', async (on) => {
    const mine = await on.store.leaseSlots('relay-a', 60_000, 10);
    const theirs = await on.second.leaseSlots('relay-b', 60_000, 10);
    expect(mine).toHaveLength(10);
    expect(theirs).toHaveLength(ALL_SLOTS - 10);
    expect(mine.filter((slot) => theirs.includes(slot))).toEqual([]);
    expect(await on.store.leaseSlots('relay-a', 60_000, 10)).toEqual(mine);
  });

  it('EVT-1: two relays that come at once share no slot', async (on) => {
    const leased = await Promise.all([
      on.store.leaseSlots('relay-a', 60_000, 10),
      on.second.leaseSlots('relay-b', 60_000, 10),
    ]);
    const slots = leased.flat();
    expect(new Set(slots).size).toBe(slots.length);
  });

  it('EVT-1: slots of a relay that is gone are free when their lease is over, those given back at once', async (on) => {
    await on.store.leaseSlots('relay-a', 60_000, ALL_SLOTS);
    expect(await on.store.leaseSlots('relay-b', 60_000, ALL_SLOTS)).toEqual([]);
    on.travel(60_001);
    expect(await on.store.leaseSlots('relay-b', 60_000, ALL_SLOTS)).toHaveLength(ALL_SLOTS);
    await on.store.releaseSlots('relay-b');
    expect(await on.store.leaseSlots('relay-a', 60_000, ALL_SLOTS)).toHaveLength(ALL_SLOTS);
  });

  it('EVT-1: a row carries its events and what handlers need to know of the run', async (on) => {
    const events = [{ type: 'run:started' as const, data: { text: 'x\u0000y' } }];
    const run = await on.start({
      ownerId: 'acme',
      actor: '{"id":"u1"}',
      trace: '00-trace',
      definitionVersion: 2,
      transition: newTransition({ stageRuns: [newStageRun()], events }),
    });
    const [row] = await read(on);
    expect(row).toMatchObject({
      runId: run.id,
      definitionId: 'documents',
      definitionVersion: 2,
      ownerId: 'acme',
      actor: '{"id":"u1"}',
      trace: '00-trace',
      delivered: 0,
      attempts: 0,
    });
    expect(JSON.parse(row?.events ?? '')).toEqual(events);
    expect(Number.isNaN(Date.parse(row?.createdAt ?? ''))).toBe(false);
  });

  it('EVT-1: events of a run are read in the order in which they happened', async (on) => {
    const one = await tell(on, 3);
    const two = await tell(on, 2);
    const rows = await read(on);
    expect(numbers(rows, one)).toEqual([1, 2, 3]);
    expect(numbers(rows, two)).toEqual([1, 2]);
  });

  it('EVT-1: no more rows are read than asked for, oldest first', async (on) => {
    const runId = await tell(on, 3);
    const slots = await on.store.leaseSlots('relay-a', 60_000, ALL_SLOTS);
    expect(numbers(await on.store.readOutbox('relay-a', slots, 2), runId)).toEqual([1, 2]);
  });

  it('EVT-1: all events of a run are in one slot', async (on) => {
    const runId = await tell(on, 3);
    const slots = await on.store.leaseSlots('relay-a', 60_000, ALL_SLOTS);
    const counts: number[] = [];
    for (const slot of slots) {
      counts.push((await on.store.readOutbox('relay-a', [slot], 10)).filter((row) => row.runId === runId).length);
    }
    expect(counts.filter((count) => count > 0)).toEqual([3]);
  });

  it('EVT-1: a relay whose lease is over reads and removes nothing', async (on) => {
    await tell(on, 2);
    const slots = await on.store.leaseSlots('relay-a', 60_000, ALL_SLOTS);
    on.travel(60_001);
    expect(await on.store.readOutbox('relay-a', slots, 10)).toEqual([]);
    on.travel(2 * DAY_MS);
    expect(await on.store.discardOutbox('relay-a', slots, 1_000, UNHEARD)).toBe(0);
    await on.store.leaseSlots('relay-b', 60_000, ALL_SLOTS);
    expect(await on.store.readOutbox('relay-a', slots, 10)).toEqual([]);
    expect(await on.store.readOutbox('relay-b', slots, 10)).toHaveLength(2);
  });

  it('FAULT J4: rows that every handler has had are removed', async (on) => {
    const runId = await tell(on, 3);
    const rows = await read(on);
    await on.store.ackOutbox(rows.slice(0, 2).map(({ id }) => id));
    await on.store.ackOutbox([]);
    expect(numbers(await read(on), runId)).toEqual([3]);
  });

  it('FAULT J6: a row that failed holds back later ones of its run only, until its time comes', async (on) => {
    const one = await tell(on, 3);
    const two = await tell(on, 2);
    const rows = await read(on);
    const ofOne = rows.filter((row) => row.runId === one);
    await on.store.ackOutbox([ofOne[0]?.id ?? '']);
    await on.store.failOutbox(ofOne[1]?.id ?? '', 0, 'The handler threw.', 30_000);

    const held = await read(on);
    expect(numbers(held, one)).toEqual([]);
    expect(numbers(held, two)).toEqual([1, 2]);

    on.travel(30_001);
    const later = await read(on);
    expect(numbers(later, one)).toEqual([2, 3]);
    expect(later.find(({ id }) => id === ofOne[1]?.id)?.attempts).toBe(1);
  });

  it('FAULT J6: rows before one that waits are still read', async (on) => {
    const runId = await tell(on, 3);
    const rows = await read(on);
    await on.store.failOutbox(rows[1]?.id ?? '', 0, 'The handler threw.', 30_000);
    expect(numbers(await read(on), runId)).toEqual([1]);
  });

  it('EVT-1: how many events of a row were delivered is kept', async (on) => {
    const events = [1, 2, 3].map((n) => ({ type: 'run:started' as const, data: { n } }));
    await on.start({ transition: newTransition({ stageRuns: [newStageRun()], events }) });
    const [row] = await read(on);
    await on.store.failOutbox(row?.id ?? '', 2, 'The third threw.', 0);
    on.travel(1);
    expect(await read(on)).toMatchObject([{ id: row?.id, delivered: 2, attempts: 1 }]);
  });

  it('EVT-1: a dead letter no longer holds its run back, and is listed with its error', async (on) => {
    const runId = await tell(on, 2);
    const [row] = await read(on);
    await on.store.failOutbox(row?.id ?? '', 0, 'It never works.', null);
    expect(numbers(await read(on), runId)).toEqual([2]);
    expect(await on.store.listDeadLetters(10)).toMatchObject([
      { id: row?.id, runId, attempts: 1, error: 'It never works.' },
    ]);
  });

  it('EVT-1: dead letters are listed oldest first, no more than asked for', async (on) => {
    const runId = await tell(on, 3);
    for (const { id } of await read(on)) await on.store.failOutbox(id, 0, 'No.', null);
    expect(numbers(await on.store.listDeadLetters(2), runId)).toEqual([1, 2]);
  });

  it('EVT-1: a dead letter can be replayed, its tries counted anew', async (on) => {
    await tell(on, 1);
    const [row] = await read(on);
    expect(await on.store.replayDeadLetters([row?.id ?? ''])).toBe(0);
    await on.store.failOutbox(row?.id ?? '', 0, 'No.', null);
    expect(await on.store.replayDeadLetters([row?.id ?? ''])).toBe(1);
    expect(await read(on)).toMatchObject([{ id: row?.id, attempts: 0 }]);
    expect(await on.store.listDeadLetters(10)).toEqual([]);
  });

  it('EVT-1: rows nobody came to hear are removed in batches, dead letters kept', async (on) => {
    await tell(on, 4);
    const [dead] = await read(on);
    await on.store.failOutbox(dead?.id ?? '', 0, 'No.', null);
    on.travel(UNHEARD.unheardForMs + 1_000);
    const slots = await on.store.leaseSlots('deaf', 60_000, ALL_SLOTS, UNHEARD.unheardForMs);
    const batches: number[] = [];
    do batches.push(await on.store.discardOutbox('deaf', slots, 2, UNHEARD));
    while (batches.at(-1) !== 0 && batches.length < 10);
    expect(batches.length).toBeGreaterThan(2);
    expect(batches.reduce((sum, count) => sum + count)).toBe(3);
    expect(await on.store.readOutbox('deaf', slots, 10)).toEqual([]);
    expect(await on.store.listDeadLetters(10)).toHaveLength(1);
  });

  it('EVT-1: of rows nobody came to hear the young ones are kept', async (on) => {
    const runId = await tell(on, 2);
    const slots = await on.store.leaseSlots('deaf', 600_000, ALL_SLOTS, UNHEARD.unheardForMs);
    on.travel(UNHEARD.olderThanMs - 10_000);
    await on.change(runId, newTransition({ events: [{ type: 'run:started', data: { n: 3 } }] }));
    expect(await on.store.discardOutbox('deaf', slots, 1_000, UNHEARD)).toBe(0);
    on.travel(20_000);
    expect(await on.store.discardOutbox('deaf', slots, 1_000, UNHEARD)).toBe(2);
    await on.store.releaseSlots('deaf');
    expect(numbers(await read(on), runId)).toEqual([3]);
  });

  it('EVT-1: a slot that a relay with listeners leased of late is for no relay without them', async (on) => {
    await tell(on, 1);
    const heard = await on.store.leaseSlots('relay-a', 60_000, 3);
    await on.store.releaseSlots('relay-a');
    const deaf = (): Promise<number[]> => on.second.leaseSlots('deaf', 60_000, ALL_SLOTS, UNHEARD.unheardForMs);
    const unheard = await deaf();
    expect(unheard).toHaveLength(ALL_SLOTS - 3);
    expect(unheard.filter((slot) => heard.includes(slot))).toEqual([]);
    on.travel(UNHEARD.unheardForMs - 1_000);
    expect(await deaf()).toEqual(unheard);
    on.travel(2_000);
    // Its own leases leave no mark.
    expect(await deaf()).toHaveLength(ALL_SLOTS);
  });

  it('EVT-1: what somebody may come to hear is not removed, whoever holds the slot', async (on) => {
    await tell(on, 2);
    const slots = await on.store.leaseSlots('relay-a', 10 * DAY_MS, ALL_SLOTS);
    on.travel(UNHEARD.unheardForMs - 1_000);
    expect(await on.store.discardOutbox('relay-a', slots, 1_000, UNHEARD)).toBe(0);
    on.travel(2_000);
    expect(await on.store.discardOutbox('relay-a', slots, 1_000, UNHEARD)).toBe(2);
  });

  it('EVT-1: what tells nothing writes nothing', async (on) => {
    await on.store.createRuns([newRun()]);
    expect(await read(on)).toEqual([]);
  });
}
