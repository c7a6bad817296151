import type { StoredEvent } from '../../../lib/engine/ports/index.js';
import type { StageContext } from '../../../lib/interfaces/index.js';
import { Outages } from '../../../lib/runtime/background/outages.js';
import { Pauses } from '../../../lib/runtime/background/pauses.js';
import { EventMatcher } from '../../../lib/runtime/events/event-matcher.js';
import { DueWaits } from '../../../lib/runtime/wake/due-waits.js';
import { BrokenStore, DataError, TransientError } from './support/broken-store.js';
import { workflow } from './support/pipeline.js';
import { signal, turns, type Signal } from './support/signals.js';
import { TestEngine } from './support/test-engine.js';

const engines: TestEngine[] = [];
afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
});

/** A run that waits for an event an hour at most. */
async function waiting() {
  const flow = workflow('flow', [
    {
      key: 'a',
      execute: ({ step }: StageContext) =>
        step.waitForEvent('paid', { key: 'paid', timeout: '1h', onTimeout: 'return' }),
    },
  ]);
  const broken = new BrokenStore();
  const engine = new TestEngine([flow], { wrap: broken.wrap });
  engines.push(engine);
  const runId = await engine.start(flow);
  await engine.drain();
  await engine.settled();
  return { engine, broken, runId, flow };
}

function matcherOn(
  engine: TestEngine,
  onResumed: (stageRuns: number) => void = () => undefined,
  startTriggered: (event: StoredEvent) => Promise<boolean> = async () => true,
) {
  const outages = new Outages(engine.log);
  return new EventMatcher({
    store: engine.store,
    startTriggered,
    onResumed,
    outages,
    pauses: new Pauses(),
    log: engine.log,
    batch: 1,
  });
}

async function stored(engine: TestEngine, key = 'paid', payload: unknown = 1): Promise<StoredEvent> {
  const id = `01900000-0000-7000-8000-${String(++count).padStart(12, '0')}`;
  const event = { id, ownerId: null, key, subject: null, payload: JSON.stringify(payload) };
  await engine.store.storeEvent({ ...event, messageDigest: null });
  return event;
}
let count = 0;

/** It stops no earlier than what stands in the middle of its work has gone on. */
async function stopsAfter(matcher: EventMatcher, goOn: Signal): Promise<void> {
  let stopped = false;
  const stopping = matcher.stop().then(() => (stopped = true));
  await turns();
  expect(stopped).toBe(false);
  goOn.fire();
  await stopping;
}

describe('limits', () => {
  it('WAKE-3: a wait that cannot be ended holds up none of its page', async () => {
    const { engine, broken, runId, flow } = await waiting();
    const other = await engine.start(flow);
    await engine.drain();
    engine.passTime(3_600_001);
    broken.instead.fireTimeouts = (real, waits, aheadMs) => {
      if (waits.some((wait) => wait.runId === runId)) throw new DataError('a row that is refused');
      return real(waits, aheadMs);
    };
    expect(await engine.runtime.pass.wake()).toMatchObject({ timeouts: 1, errors: [] });
    await engine.drain();
    expect(await engine.output(other)).toMatchObject({ timedOut: true });
    expect(engine.log.matching('error', `of run ${runId} failed`)).toHaveLength(1);
  });
});

describe('matching', () => {
  it('WAIT-3: an event that came in time wins over the limit, though its run was locked when the limit passed', async () => {
    const { engine, broken, runId } = await waiting();
    await stored(engine);
    engine.passTime(3_600_001);
    broken.instead.fireEvents = async (_real, matches) => ({ fired: [], busy: [...matches] });
    expect(await engine.runtime.pass.wake()).toMatchObject({ timeouts: 0, errors: [] });
    broken.instead.fireEvents = undefined;
    await engine.runtime.pass.wake();
    await engine.drain();
    expect(await engine.output(runId)).toEqual({ timedOut: false, value: 1 });
  });

  it('WAIT-3: a wait whose stored events can’t be read times out all the same, and keeps no others from the page', async () => {
    const { engine, broken, runId } = await waiting();
    broken.instead.findEvents = async () => {
      throw new Error('unreadable');
    };
    await engine.travel(3_600_001);
    expect(await engine.output(runId)).toMatchObject({ timedOut: true });
    expect(JSON.stringify(engine.log.lines)).toContain('unreadable');
  });

  it('WAKE-6: who goes on is told at once, also when a later page can’t be had', async () => {
    const { engine, broken } = await waiting();
    let resumed = 0;
    const matcher = matcherOn(engine, (stageRuns) => (resumed += stageRuns));
    const event = await stored(engine);
    broken.instead.findWaits = async (real, of, after, limit) => {
      if (after !== null) throw new Error('away');
      return { ...(await real(of, after, limit)), next: 'more' };
    };
    await expect(matcher.matchEvent(event)).rejects.toThrow('away');
    expect(resumed).toBe(1);
  });

  it('WAIT-3: however many events are stored, few are matched at once, and all of them', async () => {
    const { engine, broken } = await waiting();
    const matcher = matcherOn(engine);
    let [now, most] = [0, 0];
    broken.instead.findWaits = async (real, ...asked) => {
      most = Math.max(most, ++now);
      await turns(2);
      now--;
      return real(...asked);
    };
    const events = await Promise.all(Array.from({ length: 10 }, () => stored(engine)));
    await Promise.all(events.map((event) => matcher.matchEvent(event)));
    expect([most, broken.count('findWaits')]).toEqual([2, 10]);
  });

  it('LEASE-6: at shutdown it waits for what is under way and begins nothing more', async () => {
    const { engine, broken } = await waiting();
    const matcher = matcherOn(engine);
    const [entered, goOn] = [signal(), signal()];
    broken.instead.markMatched = async (real, ids) => {
      entered.fire();
      await goOn;
      return real(ids);
    };
    const events = await Promise.all(['x', 'y', 'z'].map((key) => stored(engine, key)));
    const matching = events.map((event) => matcher.matchEvent(event));
    await entered;
    await stopsAfter(matcher, goOn);
    await Promise.all(matching);
    expect(broken.count('findWaits')).toBe(2);
    const looks = broken.count('uncheckedWaits');
    await matcher.matchStageRuns(['01900000-0000-7000-8000-00000000ffff']);
    expect(broken.count('uncheckedWaits')).toBe(looks);
  });
});

describe('sweeping', () => {
  /** Events that stay unmatched for now, then one that does not; each is a page. */
  async function behind(count: number) {
    const { engine, broken } = await waiting();
    const stuck = await Promise.all(Array.from({ length: count }, () => stored(engine, 'stuck')));
    const last = await stored(engine, 'last');
    const asked: string[] = [];
    const matcher = matcherOn(engine, undefined, async ({ id, key }) => {
      asked.push(id);
      return key !== 'stuck';
    });
    const left = async () => (await engine.store.unmatchedEvents(0, null, 100)).events.map(({ id }) => id);
    return { engine, broken, matcher, asked, left, stuck: stuck.map(({ id }) => id), last: last.id };
  }

  it('WAKE-3: events that stay unmatched are in nobody’s way', async () => {
    const { matcher, left, stuck } = await behind(3);
    await matcher.sweep(0);
    expect(await left()).toEqual(stuck);
  });

  it('WAKE-3: a sweep has an end, and the next one goes on there, however many stay unmatched', async () => {
    const { matcher, left, asked, stuck } = await behind(12);
    await matcher.sweep(0);
    expect(asked).toEqual(stuck.slice(0, 10));
    await matcher.sweep(0);
    expect(await left()).toEqual(stuck);
    await matcher.sweep(0);
    expect(asked.at(-1)).toBe(stuck[9]);
  });

  it.each([TransientError, Error])(
    'WAKE-3: events whose matching fails each time with %p are in nobody’s way',
    async (Thrown) => {
      const { broken, matcher, left, stuck } = await behind(3);
      broken.instead.findWaits = async (real, event, ...page) => {
        if (event.key === 'stuck') throw new Thrown('one of its rows');
        return real(event, ...page);
      };
      await matcher.sweep(0);
      expect(await left()).toEqual(stuck);
    },
  );

  it('WAKE-3: while the database is away a sweep tries no more than one event, and the next one begins with it', async () => {
    const { broken, matcher, left } = await behind(0);
    const away = async () => {
      throw new TransientError('away');
    };
    broken.instead.findWaits = away;
    broken.instead.now = away;
    await expect(matcher.sweep(0)).rejects.toThrow('away');
    expect(broken.count('findWaits')).toBe(1);
    broken.instead.findWaits = undefined;
    await matcher.sweep(0);
    expect(await left()).toEqual([]);
  });

  /** Runs that wait, each wait a page, and nobody has looked up what lies there. Only that of the last one can be looked up. */
  async function poisoned(Thrown: new (message: string) => Error) {
    const { engine, broken, runId, flow } = await waiting();
    const runs = [runId, await engine.start(flow), await engine.start(flow)];
    // Nobody gets to look for what lies there.
    broken.instead.uncheckedWaits = async () => [];
    await engine.drain();
    await engine.settled();
    broken.instead.uncheckedWaits = undefined;
    broken.instead.findEvents = async (real, wait, ...page) => {
      if (wait.runId !== runs[2]) throw new Thrown('one of its rows');
      return real(wait, ...page);
    };
    return { engine, broken, last: runs[2]! };
  }

  it.each([TransientError, Error])(
    'WAKE-3: waits whose look-up fails each time with %p are in nobody’s way',
    async (Thrown) => {
      const { engine, broken, last } = await poisoned(Thrown);
      await stored(engine);
      broken.instead.unmatchedEvents = async () => ({ events: [], next: null });
      await matcherOn(engine).sweep(0);
      await engine.drain();
      expect(await engine.output(last)).toEqual({ timedOut: false, value: 1 });
    },
  );

  it('WAKE-3: waits that can’t be looked up for now do not time out, and those behind them do', async () => {
    const { engine, last } = await poisoned(TransientError);
    engine.passTime(3_600_001);
    expect(await matcherOn(engine).timeOut(0)).toEqual({ timeouts: 1, busy: false });
    await engine.drain();
    expect(await engine.output(last)).toMatchObject({ timedOut: true });
  });

  it('WAKE-3: who asks for a sweep while one waits for its turn is served by that one', async () => {
    const { matcher, asked, last } = await behind(0);
    await Promise.all(Array.from({ length: 5 }, () => matcher.sweep(0)));
    expect(asked).toEqual([last]);
  });

  it('LEASE-6: at shutdown the event at hand is ended, and no other is begun', async () => {
    const { broken, matcher, asked, stuck } = await behind(3);
    const [entered, goOn] = [signal(), signal()];
    broken.instead.findWaits = async (real, ...given) => {
      entered.fire();
      await goOn;
      return real(...given);
    };
    const sweeping = matcher.sweep(0);
    await entered;
    await stopsAfter(matcher, goOn);
    await sweeping;
    expect(asked).toEqual(stuck.slice(0, 1));
    const looks = broken.count('unmatchedEvents');
    await matcher.sweep(0);
    expect(broken.count('unmatchedEvents')).toBe(looks);
  });
});

describe('waits that are due', () => {
  const nothing = { timers: 0, timeouts: 0, polls: 0, retries: 0, resumed: 0 };

  it('WAKE-3: what somebody has locked is looked at again soon, not at the next pass', async () => {
    const { engine, broken } = await waiting();
    const waits = new DueWaits({
      store: engine.store,
      matcher: matcherOn(engine),
      onResumed: () => undefined,
      batch: 5,
    });
    broken.instead.fireDue = async () => ({ ...nothing, ended: 0, more: true, nextInMs: 60_000 });
    expect((await waits.runOnce(0)).nextInMs).toBe(100);
    broken.instead.fireDue = async () => ({ ...nothing, ended: 0, more: false, nextInMs: 60_000 });
    expect((await waits.runOnce(0)).nextInMs).toBe(60_000);
    engine.passTime(3_600_001);
    broken.instead.fireTimeouts = async (_real, waiting) => ({ fired: 0, ended: 0, busy: waiting.length });
    expect((await waits.runOnce(0)).nextInMs).toBe(100);
  });

  it('WAKE-3: a full page of which nothing comes is not the last one', async () => {
    const { engine, broken } = await waiting();
    const waits = new DueWaits({
      store: engine.store,
      matcher: matcherOn(engine),
      onResumed: () => undefined,
      batch: 5,
    });
    const pages = [
      { ...nothing, ended: 5, more: true, nextInMs: null },
      { ...nothing, timers: 2, ended: 2, more: false, nextInMs: null },
    ];
    broken.instead.fireDue = async () => pages.shift()!;
    expect((await waits.runOnce(0)).timers).toBe(2);
  });

  it('STEP-9: so it is with children that nobody waits for any more', async () => {
    const { engine, broken } = await waiting();
    const pages = [
      { delivered: 0, told: 100, more: true },
      { delivered: 1, told: 1, more: false },
    ];
    broken.instead.deliverChildren = async () => pages.shift()!;
    expect(await engine.runtime.family.runOnce()).toMatchObject({ delivered: 1 });
  });
});
