import { InvalidOptionsError, StoreUnavailableError } from '../../lib/errors/index.js';
import { newRun, newStageRun, newTransition } from '../../lib/testing/conformance/builders.js';
import { newEvent, newSignal } from '../../lib/testing/conformance/step-builders.js';
import { describeStore } from '../../lib/testing/conformance/index.js';
import { rejection } from '../../lib/testing/conformance/store-under-test.js';
import { MemoryClock, MemoryDatabase, MemoryStore } from '../../lib/testing/memory/index.js';

describeStore('MemoryStore', async () => {
  const shared = { clock: MemoryClock.standing(), database: new MemoryDatabase() };
  const [store, second] = [new MemoryStore(shared), new MemoryStore(shared)];
  return { store, second, close: () => Promise.all([store.close(), second.close()]).then(() => undefined) };
});

describe('MemoryStore alone', () => {
  const transaction = { query: async () => [] };

  it('RUN-1: it can take no part in a transaction, and says so before anything is written', async () => {
    const store = new MemoryStore();
    const run = newRun();
    const start = await rejection(store.createRuns([run], transaction));
    expect(start).toBeInstanceOf(InvalidOptionsError);
    expect(String(start)).toContain('in-memory store');
    await store.createRuns([run]);
    const change = store.changeRun(run.id, { all: true }, () => ({ transition: null, answer: null }), transaction);
    expect(await rejection(change)).toBeInstanceOf(InvalidOptionsError);
    expect(await rejection(store.storeEvent(newEvent(), transaction))).toBeInstanceOf(InvalidOptionsError);
    const signal = store.sendSignal(newSignal(), run.id, { all: true }, transaction);
    expect(await rejection(signal)).toBeInstanceOf(InvalidOptionsError);
    expect((await store.unmatchedEvents(0, null, 10)).events).toEqual([]);
  });

  it('RUN-8: a call that was undone leaves the order of what is due as it was', async () => {
    const store = new MemoryStore();
    const runs = [newRun({ priority: 1 }), newRun({ priority: 2 }), newRun({ priority: 3 })];
    await store.createRuns(runs);
    const [taken] = runs[0]?.transition.stageRuns ?? [];
    const bad = newRun({ transition: newTransition({ stageRuns: [newStageRun({ id: taken?.id ?? '' })] }) });
    await rejection(store.createRuns([newRun({ priority: 9 }), newRun({ priority: 2 }), bad]));
    const { claimed } = await store.claim({ workerId: 'w', limit: 10, queues: null, unserved: [] });
    expect(claimed.map((job) => job.run.priority)).toEqual([3, 2, 1]);
  });

  it('RUN-8: a decision that calls the store is refused, and its call undone', async () => {
    const store = new MemoryStore();
    const run = newRun();
    await store.createRuns([run]);
    let inner: Promise<unknown> | undefined;
    await store.changeRun(run.id, { all: true }, () => {
      inner = rejection(store.createRuns([newRun()]));
      return { transition: null, answer: null };
    });
    expect(String(await inner)).toContain('from inside another one');
    expect(await store.countRuns({ all: true })).toEqual({ RUNNING: 1 });
  });

  it('LEASE-5: only a played outage is worth another try', () => {
    const store = new MemoryStore();
    expect(store.isTransient(new StoreUnavailableError({ doing: 'claiming jobs' }))).toBe(true);
    expect(store.isTransient(new Error('no'))).toBe(false);
    expect(store.isDataError(new Error('no'))).toBe(false);
  });

  it('WAKE-5: counted ids make a simulation repeatable', async () => {
    let last = 0;
    const nextId = () => `id-${++last}`;
    const store = new MemoryStore({ nextId, clock: MemoryClock.standing(0) });
    await store.createRuns([newRun()]);
    const { claimed } = await store.claim({ workerId: 'w', limit: 10, queues: null, unserved: [] });
    expect(claimed[0]?.token).toBe('id-1');
    expect(await store.now()).toBe('1970-01-01T00:00:00.000Z');
  });
});

describe('MemoryClock', () => {
  it('WAKE-5: a standing clock moves by hand only', () => {
    const clock = MemoryClock.standing(1_000);
    expect(clock.now()).toBe(1_000);
    clock.advance(500);
    clock.advance(-100);
    expect(clock.now()).toBe(1_400);
  });

  it('WAKE-5: another one goes on with the clock below it', () => {
    let below = 10;
    const clock = new MemoryClock(() => below);
    clock.advance(5);
    below = 20;
    expect(clock.now()).toBe(25);
  });

  it('FAULT B1: it cannot be moved by nothing that is a number', () => {
    const clock = MemoryClock.standing(0);
    for (const ms of [NaN, Infinity]) expect(() => clock.advance(ms)).toThrow(RangeError);
    expect(clock.now()).toBe(0);
  });
});
