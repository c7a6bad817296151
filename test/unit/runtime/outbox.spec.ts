import { MemoryDatabase } from '../../../lib/testing/memory/index.js';
import { BrokenStore, TransientError } from './support/broken-store.js';
import { workflow } from './support/pipeline.js';
import { signal, turns } from './support/signals.js';
import { TestEngine, type TestEngineGiven } from './support/test-engine.js';

const engines: TestEngine[] = [];
afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
});

function engineOf(given: TestEngineGiven = {}) {
  const store = new BrokenStore();
  const flow = workflow('flow', [
    { key: 'a', execute: () => 1 },
    { key: 'b', execute: () => 2 },
  ]);
  const engine = new TestEngine([flow], { wrap: store.wrap, ...given });
  engines.push(engine);
  return { engine, flow, store, relay: engine.runtime.relay, sink: engine.sink };
}

const MINUTE = 60_000;
const ORDER = ['run:started', 'stage:started', 'stage:completed', 'stage:started', 'stage:completed', 'run:completed'];

it('EVT-1, EVT-2: delivers the events of a run in order, with run, stage, owner and actor', async () => {
  const { engine, flow, relay, sink } = engineOf();
  const runId = await engine.start(flow, null, { ownerId: 'team', actor: '"u1"', trace: '00-aa-bb-01' });
  await engine.drain();
  await relay.flush();
  expect(sink.events.map(({ type }) => type)).toEqual(ORDER);
  expect(sink.events[1]).toMatchObject({
    run: { id: runId, definition: 'flow', version: 1 },
    stage: { key: 'a', stage: 'flow.a' },
    ownerId: 'team',
    actor: '"u1"',
    trace: '00-aa-bb-01',
  });
  expect(new Set(sink.events.map(({ id }) => id)).size).toBe(ORDER.length);
  expect(await relay.flush()).toBe(0);
});

it('EVT-1: is kicked by what this process records', async () => {
  const { engine, flow, relay, sink } = engineOf();
  const done = signal();
  sink.hear = ({ type }) => type === 'run:completed' && done.fire();
  relay.start();
  await engine.start(flow);
  await engine.drain();
  await done;
});

it('FAULT J6: a failing event holds back later ones of its run, and only of its run', async () => {
  const { engine, flow, relay, sink } = engineOf({ options: { outbox: { backoff: '1 min' } } });
  const broken = await engine.start(flow);
  await engine.drain();
  const fine = await engine.start(flow);
  await engine.drain();
  let failing = true;
  sink.hear = ({ run, type }) => {
    if (failing && run!.id === broken && type === 'stage:completed') throw new Error('no');
  };
  await relay.flush();
  const heard = (runId: string) => sink.events.filter(({ run }) => run!.id === runId).map(({ type }) => type);
  expect(heard(broken)).toEqual(['run:started', 'stage:started']);
  expect(heard(fine)).toEqual(ORDER);
  failing = false;
  await relay.flush();
  expect(heard(broken)).toHaveLength(2);
  engine.clock.advance(70_000);
  await relay.flush();
  expect(heard(broken)).toEqual(ORDER);
});

it('EVT-1: an event that keeps failing becomes a dead letter, which lets the next ones through and can be replayed', async () => {
  const { engine, flow, relay, sink } = engineOf({ options: { outbox: { maxAttempts: 3, backoff: '1s' } } });
  await engine.start(flow);
  await engine.drain();
  let failing = true;
  sink.hear = ({ type }) => {
    if (failing && type === 'run:started') throw new Error('handler is broken');
  };
  for (let round = 0; round < 3; round++) {
    await relay.flush();
    engine.clock.advance(10_000);
  }
  const [letter] = await engine.store.listDeadLetters(10);
  expect(letter!.error).toContain('handler is broken');
  expect(sink.events.map(({ type }) => type)).toEqual(
    ORDER.slice(1).filter((type, at) => at > 0 || type !== 'run:started'),
  );
  failing = false;
  await engine.store.replayDeadLetters([letter!.id]);
  await relay.flush();
  expect(sink.events.map(({ type }) => type)).toContain('run:started');
});

it('FAULT J4: clears away in bulk what nobody came to hear, when it is a minute old', async () => {
  const { engine, flow, relay, sink, store } = engineOf();
  sink.listening = false;
  for (let run = 0; run < 20; run++) await engine.start(flow);
  await engine.drain();
  expect(await relay.flush()).toBe(0);
  engine.clock.advance(MINUTE + 1);
  expect(await relay.flush()).toBeGreaterThan(20);
  expect([store.count('readOutbox'), sink.events.length]).toEqual([0, 0]);
  sink.listening = true;
  expect(await relay.flush()).toBe(0);
});

describe('a fleet in which only some processes listen', () => {
  const HOUR = 60 * MINUTE;

  function fleet() {
    const database = new MemoryDatabase();
    const hearing = engineOf({ database });
    const deaf = engineOf({ database, clock: hearing.engine.clock });
    deaf.sink.listening = false;
    return { hearing, deaf, clock: hearing.engine.clock };
  }

  it('EVT-1: loses no event while they are away for a deploy', async () => {
    const { hearing, deaf, clock } = fleet();
    await hearing.relay.runOnce();
    clock.advance(23 * HOUR);
    await deaf.engine.start(deaf.flow);
    await deaf.engine.drain();
    clock.advance(HOUR - MINUTE);
    expect(await deaf.relay.flush()).toBe(0);
    await hearing.relay.flush();
    expect(hearing.sink.events.map(({ type }) => type)).toEqual(ORDER);
  });

  it('EVT-1: loses them when none listened for a day', async () => {
    const { hearing, deaf, clock } = fleet();
    await hearing.relay.runOnce();
    await deaf.engine.start(deaf.flow);
    clock.advance(25 * HOUR);
    expect(await deaf.relay.flush()).toBe(1);
    expect(await hearing.relay.flush()).toBe(0);
  });

  it('EVT-1: one that hears marks its slots although nothing happens', async () => {
    const { hearing, deaf, clock } = fleet();
    const pauses = jest.spyOn(globalThis, 'setTimeout');
    const released = signal();
    hearing.store.instead.releaseSlots = (real, relayId) => real(relayId).then(released.fire);
    hearing.relay.start();
    await hearing.relay.runOnce();
    await released;
    expect(pauses.mock.calls.map(([, ms]) => ms)).toContain(HOUR);
    clock.advance(25 * HOUR);
    const [hour] = pauses.mock.calls.find(([, ms]) => ms === HOUR)!;
    pauses.mockRestore();
    const marked = signal();
    hearing.store.instead.leaseSlots = async (real, ...args) => {
      const slots = await real(...args);
      marked.fire();
      return slots;
    };
    (hour as () => void)();
    await marked;
    await deaf.engine.start(deaf.flow);
    clock.advance(2 * MINUTE);
    expect(await deaf.relay.flush()).toBe(0);
  });

  it('EVT-1: one that does not hear leases nothing for what is written, and keeps nothing after the wake pass', async () => {
    const { deaf, clock, hearing } = fleet();
    deaf.relay.start();
    await deaf.engine.start(deaf.flow);
    await deaf.engine.drain();
    await turns();
    expect(deaf.store.count('leaseSlots')).toBe(0);
    clock.advance(2 * MINUTE);
    deaf.store.instead.discardOutbox = () => Promise.reject(new TransientError('gone'));
    await deaf.engine.runtime.pass.wake();
    expect(deaf.store.count('leaseSlots')).toBe(1);
    expect(await hearing.engine.store.leaseSlots('other', 1_000, 16)).toHaveLength(16);
  });

  it('EVT-1: slots leased while something listened are given back when nothing does', async () => {
    const { deaf, hearing } = fleet();
    deaf.sink.listening = true;
    deaf.relay.start();
    await deaf.relay.runOnce();
    deaf.sink.listening = false;
    await deaf.relay.flush();
    expect(await hearing.engine.store.leaseSlots('other', 1_000, 16)).toHaveLength(16);
  });
});

it('EVT-1: relays of two processes share the slots, and none delivers what the other one did', async () => {
  const database = new MemoryDatabase();
  const one = engineOf({ database });
  const two = engineOf({ database, clock: one.engine.clock });
  for (let run = 0; run < 50; run++) await one.engine.start(one.flow);
  await one.engine.drain();
  await Promise.all([one.relay.flush(), two.relay.flush()]);
  const ids = [...one.sink.events, ...two.sink.events].map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toHaveLength(50 * ORDER.length);
});

it('EVT-1: a round that begins while the slots are given back takes them anew, and delivers', async () => {
  const { engine, flow, relay, sink, store } = engineOf();
  const [releasing, goOn, released] = [signal(), signal(), signal()];
  relay.start();
  store.instead.releaseSlots = async (real, relayId) => {
    releasing.fire();
    await goOn;
    await real(relayId);
    released.fire();
  };
  await releasing;
  store.instead.readOutbox = async (real, ...args) => {
    await released;
    return real(...args);
  };
  await engine.start(flow);
  await engine.drain();
  const round = relay.runOnce();
  await turns();
  goOn.fire();
  await round;
  expect(sink.events.map(({ type }) => type)).toEqual(ORDER);
});

it('FAULT J3: the events of a relay that died are delivered by another once its slot leases are over', async () => {
  const database = new MemoryDatabase();
  const one = engineOf({ database });
  const two = engineOf({ database, clock: one.engine.clock });
  await one.engine.start(one.flow);
  await one.engine.drain();
  await one.engine.store.leaseSlots('dead', 30_000, 16);
  await two.relay.flush();
  expect(two.sink.events).toEqual([]);
  one.engine.clock.advance(31_000);
  await two.engine.runtime.pass.wake();
  expect(two.sink.events).toHaveLength(ORDER.length);
});

it('acknowledges what was heard although the database went away in between', async () => {
  const { engine, flow, relay, sink, store } = engineOf();
  await engine.start(flow);
  await engine.drain();
  store.instead.ackOutbox = () => Promise.reject(new TransientError('gone'));
  await relay.flush();
  expect(engine.log.matching('warn', 'outbox relay')).toHaveLength(1);
  delete store.instead.ackOutbox;
  await relay.flush();
  // At least once: heard again, under the same ids.
  expect(new Set(sink.events.map(({ id }) => id)).size).toBe(ORDER.length);
  expect(await relay.flush()).toBe(0);
});

it('stop finishes what is being delivered and lets the slots go', async () => {
  const { engine, flow, relay, sink, store } = engineOf();
  const entered = signal();
  const goOn = signal();
  sink.hear = async ({ type }) => {
    if (type !== 'run:started') return;
    entered.fire();
    await goOn;
  };
  await engine.start(flow);
  await engine.drain();
  relay.start();
  await entered;
  const stopped = relay.stop(5_000);
  goOn.fire();
  await stopped;
  await turns();
  expect(store.count('releaseSlots')).toBe(1);
  expect(sink.events.length).toBeGreaterThan(0);
});
