import { BackgroundLoop } from '../../../lib/runtime/background/background-loop.js';
import { Deadlines } from '../../../lib/runtime/background/deadlines.js';
import { Outages } from '../../../lib/runtime/background/outages.js';
import { CancelledRuns } from '../../../lib/runtime/lease/cancelled-runs.js';
import { CollectedLog } from './support/collected-log.js';
import { signal, turns } from './support/signals.js';

beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
afterEach(() => jest.useRealTimers());

class Away extends Error {}

function loopOf(work: () => Promise<unknown>, everyMs: number | null) {
  const log = new CollectedLog();
  const outages = new Outages(
    log,
    () => 1,
    () => 0,
  );
  const loop = new BackgroundLoop({
    name: 'test',
    work,
    everyMs,
    isTransient: (error) => error instanceof Away,
    outages,
    log,
  });
  return { loop, log };
}

describe('a background loop', () => {
  it('FAULT G14: start twice is one loop; start, stop, start too', async () => {
    let rounds = 0;
    const { loop } = loopOf(async () => rounds++, 1_000);
    loop.start();
    loop.start();
    await loop.stop();
    loop.start();
    await jest.advanceTimersByTimeAsync(3_000);
    expect(rounds).toBe(3);
    await loop.stop();
    await jest.advanceTimersByTimeAsync(3_000);
    expect(rounds).toBe(3);
  });

  it('never overlaps itself; kicks while a round runs make one more', async () => {
    const open = signal();
    let rounds = 0;
    let running = 0;
    let most = 0;
    const { loop } = loopOf(async () => {
      rounds++;
      most = Math.max(most, ++running);
      await open;
      running--;
    }, null);
    loop.start();
    loop.kick();
    await jest.advanceTimersByTimeAsync(0);
    for (let kick = 0; kick < 5; kick++) loop.kick();
    open.fire();
    await turns();
    await jest.advanceTimersByTimeAsync(0);
    await turns();
    expect([rounds, most]).toEqual([2, 1]);
    await loop.stop();
  });

  it('FAULT B14: goes on after whatever error, and tries an outage again by its backoff', async () => {
    const errors = [new Away('1'), new Away('2'), new Away('3')];
    let rounds = 0;
    const { loop, log } = loopOf(async () => {
      rounds++;
      const error = errors.shift();
      if (error) throw error;
    }, 60_000);
    loop.start();
    await jest.advanceTimersByTimeAsync(60_000);
    await jest.advanceTimersByTimeAsync(100 + 200 + 400);
    expect(rounds).toBe(4);
    expect(log.lines.map(({ level }) => level)).toEqual(['warn', 'log']);
    await loop.stop();
  });

  it('logs what does not pass, and keeps its interval', async () => {
    let rounds = 0;
    const { loop, log } = loopOf(async () => {
      rounds++;
      throw new Error('a fault');
    }, 1_000);
    loop.start();
    await jest.advanceTimersByTimeAsync(3_000);
    expect(rounds).toBe(3);
    expect(log.matching('error', 'a fault')).toHaveLength(3);
    await loop.stop();
  });
});

describe('outages', () => {
  it('are told once when they begin and once when the last service is through again', () => {
    const log = new CollectedLog();
    const outages = new Outages(
      log,
      () => 1,
      () => 0,
    );
    const pauses = Array.from({ length: 8 }, () => outages.failed('one', new Error('gone')));
    outages.failed('two', new Error('gone'));
    outages.recovered('one');
    expect(log.lines).toHaveLength(1);
    outages.recovered('two');
    outages.recovered('two');
    expect(log.lines.map(({ level }) => level)).toEqual(['warn', 'log']);
    expect(pauses).toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
  });
});

describe('deadlines', () => {
  it('share one timer and are reached in time, whatever is added or dropped meanwhile', async () => {
    const deadlines = new Deadlines();
    const reached: number[] = [];
    const add = (ms: number) => deadlines.add(ms, () => reached.push(ms));
    const late = add(300);
    add(100);
    add(200);
    const dropped = add(50);
    deadlines.drop(dropped);
    await jest.advanceTimersByTimeAsync(100);
    expect([reached, jest.getTimerCount()]).toEqual([[100], 1]);
    deadlines.drop(late);
    await jest.advanceTimersByTimeAsync(100);
    expect([reached, jest.getTimerCount()]).toEqual([[100, 200], 0]);
  });

  it('FAULT B1: one of 30 days is reached after 30 days', async () => {
    const deadlines = new Deadlines();
    let reached = false;
    deadlines.add(30 * 86_400_000, () => (reached = true));
    await jest.advanceTimersByTimeAsync(29 * 86_400_000);
    expect(reached).toBe(false);
    await jest.advanceTimersByTimeAsync(86_400_000);
    expect(reached).toBe(true);
  });
});

describe('cancelled runs', () => {
  it('CANCEL-2: are remembered for some seconds', () => {
    let now = 0;
    const runs = new CancelledRuns(() => now);
    runs.add(['a']);
    now = 9_000;
    runs.add(['b']);
    expect([runs.has('a'), runs.has('b'), runs.has('c')]).toEqual([true, true, false]);
    now = 11_000;
    expect([runs.has('a'), runs.has('b')]).toEqual([false, true]);
  });
});
