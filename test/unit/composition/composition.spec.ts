import { ModulesContainer } from '@nestjs/core';
import { resolveOptions } from '../../../lib/workflow.module-definition.js';
import { HostProviders, type SchedulerRegistryLike } from '../../../lib/composition/host-providers.js';
import { Retryable } from '../../../lib/composition/retryable.js';
import { runtimeOf } from '../../../lib/composition/runtimes.js';
import { firstDifference, sameOptions } from '../../../lib/composition/same-options.js';
import { WakeInterval } from '../../../lib/composition/wake-interval.js';

describe('sameOptions', () => {
  it.each([
    [{ a: 1, b: [{ c: 'x' }] }, { b: [{ c: 'x' }], a: 1 }, true],
    [{ a: 1 }, { a: 2 }, false],
    [{ a: undefined }, {}, true],
    [[1, 2], [1], false],
    [{ resolve: () => 'team' }, { resolve: () => 'team' }, true],
    [{ resolve: () => 'team' }, { resolve: () => 'other' }, false],
    [{ at: new Date(0) }, { at: new Date(0) }, false],
  ])('FAULT H1: %p and %p: %p', (one, other, same) => {
    expect(sameOptions(one, other)).toBe(same);
  });

  it('FAULT H2: names the option that differs', () => {
    expect(firstDifference({ a: 1, b: { c: 1 } }, { a: 1, b: { c: 2 } })).toBe('b');
  });
});

describe('runtimeOf', () => {
  it('FAULT H1: one engine an application, another in another one', () => {
    const [one, two] = [new ModulesContainer(), new ModulesContainer()];
    const make = (): object => ({});
    const options = resolveOptions({});
    const first = runtimeOf(one, options, make);
    expect(runtimeOf(one, resolveOptions({}), make)).toBe(first);
    expect(runtimeOf(two, options, make)).not.toBe(first);
  });

  it('FAULT H2: other options in the same application are refused', () => {
    const modules = new ModulesContainer();
    runtimeOf(modules, resolveOptions({}), () => ({}));
    const another = (): unknown => runtimeOf(modules, resolveOptions({ shutdownGrace: '1s' }), () => ({}));
    expect(another).toThrow(/shutdownGraceMs/);
  });
});

describe('Retryable', () => {
  it('FAULT G7: what failed is tried anew, what worked is not', async () => {
    let calls = 0;
    const step = new Retryable(async () => {
      calls += 1;
      if (calls === 1) throw new Error('database is down');
      return calls;
    });
    await expect(Promise.all([step.get(), step.get()])).rejects.toThrow('database is down');
    expect(step.begun).toBe(false);
    await expect(Promise.all([step.get(), step.get(), step.get()])).resolves.toEqual([2, 2, 2]);
    await expect(step.settled()).resolves.toBe(2);
  });
});

const DAY = 86_400_000;

describe('WakeInterval', () => {
  const registry = (): SchedulerRegistryLike & {
    intervals: Map<string, unknown>;
    getInterval(name: string): unknown;
  } => {
    const intervals = new Map<string, unknown>();
    return {
      intervals,
      doesExist: (_type, name) => intervals.has(name),
      addInterval: (name, interval) => void intervals.set(name, interval),
      deleteInterval: (name) => void intervals.delete(name),
      getInterval: (name) => intervals.get(name),
    };
  };

  it("WAKE-7: is an interval of the host's registry while it runs; started twice it is one (FAULT G14)", () => {
    const host = registry();
    const interval = new WakeInterval(60_000, () => undefined, host);
    interval.start();
    const first = host.intervals.get('workflow-wake');
    interval.start();
    expect(host.intervals.get('workflow-wake')).toBe(first);
    interval.stop();
    expect(host.intervals.size).toBe(0);
  });

  it('WAKE-7: a name that the host took is left to the host', () => {
    const host = registry();
    host.intervals.set('workflow-wake', 'the host’s');
    const interval = new WakeInterval(60_000, () => undefined, host);
    interval.start();
    interval.stop();
    expect(host.intervals.get('workflow-wake')).toBe('the host’s');
  });

  it('FAULT B1: an interval longer than a timer takes does not fire at once', () => {
    jest.useFakeTimers();
    try {
      const ticks: number[] = [];
      const interval = new WakeInterval(400 * DAY, () => ticks.push(1), undefined);
      interval.start();
      // A timer that is longer than it can be fires after a millisecond, again and again; a little over 24 days it can be.
      for (const passed of [1_000, 24 * DAY]) {
        jest.advanceTimersByTime(passed);
        expect(ticks).toEqual([]);
      }
      interval.stop();
    } finally {
      jest.useRealTimers();
    }
  });
});

describe('HostProviders', () => {
  const container = (providers: [unknown, unknown][]): ModulesContainer => {
    const modules = new ModulesContainer();
    modules.set('m', { providers: new Map(providers.map(([token, instance]) => [token, { instance }])) } as never);
    return modules;
  };
  class SchedulerRegistry {}
  const capable = { doesExist: jest.fn(), addInterval: jest.fn(), deleteInterval: jest.fn() };

  it('MOD-1: finds a provider by its name and by what it can do', () => {
    expect(new HostProviders(container([[SchedulerRegistry, capable]])).schedulerRegistry()).toBe(capable);
    expect(new HostProviders(container([[SchedulerRegistry, {}]])).schedulerRegistry()).toBeUndefined();
    expect(new HostProviders(container([['Other', capable]])).schedulerRegistry()).toBeUndefined();
  });

  it('RUN-1: finds the transaction hosts of all connections, and each once', () => {
    const capable = { isTransactionActive: () => false, withTransaction: () => undefined, tx: undefined };
    const [host, named] = [{ ...capable }, { ...capable }];
    class TransactionHost {}
    const found = new HostProviders(
      container([
        [TransactionHost, host],
        [Symbol.for('TransactionHost_reports'), named],
        [Symbol.for('TransactionHost_again'), named],
      ]),
    ).transactionHosts();
    expect(found).toEqual([host, named]);
  });
});
