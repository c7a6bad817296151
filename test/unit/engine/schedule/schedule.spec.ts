import { CronText, dueInstants, jitterMs, Schedule, ZoneClock } from '../../../../lib/engine/schedule/index.js';
import { instantsOf, type Plan, watchClock } from './clock-watch.js';

function cronOf(text: string): CronText {
  const cron = CronText.read(text);
  if (typeof cron === 'string') throw new Error(cron);
  return cron;
}

const scheduleOf = (text: string, zone = 'UTC'): Schedule => new Schedule(cronOf(text), new ZoneClock(zone));
const texts = (instants: readonly number[]): string[] =>
  instants.map((at) => `${new Date(at).toISOString().slice(0, 16)}Z`);
const between = (text: string, zone: string, from: string, until: string): string[] =>
  texts(scheduleOf(text, zone).between(Date.parse(from), Date.parse(until), 1_000));

const ZONES = [
  'Europe/Rome',
  'America/New_York',
  'Australia/Lord_Howe',
  'America/Sao_Paulo',
  'Asia/Kathmandu',
  'Africa/Casablanca',
];
const PLANS: readonly (readonly [cron: string, plan: Plan])[] = [
  ['30 2 * * *', { hours: [2], minutes: [30] }],
  ['0,30 1-3 * * *', { hours: [1, 2, 3], minutes: [0, 30] }],
  ['*/15 2,14 * * *', { hours: [2, 14], minutes: [0, 15, 30, 45] }],
  ['0 * * * *', { hours: 'all', minutes: [0] }],
  ['15,45 */1 * * *', { hours: 'all', minutes: [15, 45] }],
];

describe('instants of a schedule', () => {
  describe.each(ZONES)('TRIG-1: in %s', (zone) => {
    // The months in which any of them changes its clock; test/chaos goes through a whole year.
    it.each([
      ['spring', Date.UTC(2026, 1, 1), Date.UTC(2026, 3, 20)],
      ['autumn', Date.UTC(2026, 8, 20), Date.UTC(2026, 10, 15)],
    ])('are those that a clock shows, over the %s, each once', (_season, from, until) => {
      const looks = watchClock(zone, from, until);
      for (const [cron, plan] of PLANS) {
        const instants = scheduleOf(cron, zone).between(from, until, 100_000);
        expect([cron, texts(instants)]).toEqual([cron, texts(instantsOf(plan, looks))]);
      }
    });
  });

  it('TRIG-1, FAULT B10: a time that the clock jumps over comes as late as it jumped', () => {
    expect(between('30 2 * * *', 'Europe/Rome', '2026-03-28T00:00Z', '2026-03-31T00:00Z')).toEqual([
      '2026-03-28T01:30Z',
      // 03:30: at 02:00 it is 03:00.
      '2026-03-29T01:30Z',
      '2026-03-30T00:30Z',
    ]);
  });

  it('TRIG-1, FAULT B10: a time that the clock shows twice counts the first time', () => {
    expect(between('30 2 * * *', 'Europe/Rome', '2026-10-24T00:00Z', '2026-10-27T00:00Z')).toEqual([
      '2026-10-24T00:30Z',
      '2026-10-25T00:30Z',
      '2026-10-26T01:30Z',
    ]);
  });

  it('TRIG-1: a time that comes where another one is too is one instant', () => {
    expect(between('30 2,3 * * *', 'Europe/Rome', '2026-03-29T00:00Z', '2026-03-29T23:00Z')).toEqual([
      '2026-03-29T01:30Z',
    ]);
  });

  it('TRIG-1: all hours are an interval, which goes on by real time', () => {
    expect(between('30 * * * *', 'Europe/Rome', '2026-03-29T00:00Z', '2026-03-29T02:59Z')).toEqual([
      '2026-03-29T00:30Z',
      '2026-03-29T01:30Z',
      '2026-03-29T02:30Z',
    ]);
    expect(between('30 * * * *', 'Europe/Rome', '2026-10-25T00:00Z', '2026-10-25T01:59Z')).toEqual([
      '2026-10-25T00:30Z',
      '2026-10-25T01:30Z',
    ]);
  });

  it('TRIG-1: a day that a country left out, and a leap day', () => {
    expect(between('0 10 * * *', 'Pacific/Apia', '2011-12-29T00:00Z', '2012-01-01T00:00Z')).toEqual([
      '2011-12-29T20:00Z',
      '2011-12-30T20:00Z',
      '2011-12-31T20:00Z',
    ]);
    expect(between('0 0 29 2 *', 'UTC', '2026-01-01T00:00Z', '2033-01-01T00:00Z')).toEqual([
      '2028-02-29T00:00Z',
      '2032-02-29T00:00Z',
    ]);
  });

  it('TRIG-1: the last one is found from however far away', () => {
    const schedule = scheduleOf('0 9 * * MON-FRI', 'America/New_York');
    const last = (after: string, until: string): number | null => schedule.last(Date.parse(after), Date.parse(until));
    expect(texts([last('2020-01-01T00:00Z', '2026-07-06T00:00Z')!])).toEqual(['2026-07-03T13:00Z']);
    expect(last('2026-07-04T00:00Z', '2026-07-06T00:00Z')).toBeNull();
    expect(texts([scheduleOf('0 0 1 1 *').last(Date.UTC(2000, 0), Date.UTC(2026, 5))!])).toEqual(['2026-01-01T00:00Z']);
    expect(texts([scheduleOf('0 0 29 2 *').last(Date.UTC(2000, 0), Date.UTC(2027, 5))!])).toEqual([
      '2024-02-29T00:00Z',
    ]);
  });
});

describe('cron texts', () => {
  it.each([
    ['', 'it has 0 fields, not five: minute, hour, day of month, month, day of week'],
    ['daily', 'it has 1 field, not five: minute, hour, day of month, month, day of week'],
    ['0 25 * * *', '"25" is no hour: write 0 to 23, *, a list 1,2, a range 1-5 or a step */5'],
    ['0 0 31 2 *', 'no month has such a day'],
    [
      '0 0 ? * +MON',
      '"+MON" is no day of week: write 0 to 7 or SUN to SAT, *, a list, a range, or MON#2 for the second Monday',
    ],
  ])('TRIG-1: "%s" is refused, with what is wrong', (text, reason) => {
    expect(CronText.read(text)).toBe(reason);
  });

  it('TRIG-1: the last day of a month, and the second Monday', () => {
    expect(between('0 0 L * *', 'UTC', '2026-01-01T00:00Z', '2026-04-01T00:00Z')).toEqual([
      '2026-01-31T00:00Z',
      '2026-02-28T00:00Z',
      '2026-03-31T00:00Z',
    ]);
    expect(between('0 0 * * MON#2', 'UTC', '2026-01-01T00:00Z', '2026-03-01T00:00Z')).toEqual([
      '2026-01-12T00:00Z',
      '2026-02-09T00:00Z',
    ]);
  });
});

describe('what is due', () => {
  const hourly = scheduleOf('0 * * * *');
  const at = (hours: number, minutes = 0): number => Date.UTC(2026, 0, 1, hours, minutes);

  it('TRIG-1: an instant that a pass comes to a little late is in time, whatever the policy', () => {
    for (const catchUp of ['skip', 'once', 'all'] as const)
      expect(dueInstants(hourly, at(8), at(9, 4), catchUp)).toEqual({
        instants: [at(9)],
        missed: false,
        cursor: at(9),
        next: at(10),
      });
  });

  it('TRIG-1: missed instants start all, one or no run', () => {
    const missed = { missed: true, cursor: at(12), next: at(13) };
    expect(dueInstants(hourly, at(8), at(12, 30), 'skip')).toEqual({ ...missed, instants: [] });
    expect(dueInstants(hourly, at(8), at(12, 30), 'once')).toEqual({ ...missed, instants: [at(12)] });
    expect(dueInstants(hourly, at(8), at(12, 30), 'all')).toEqual({
      instants: [at(9), at(10), at(11), at(12)],
      missed: false,
      cursor: at(12),
      next: at(13),
    });
  });

  it('TRIG-1: one that is in time stands for those that were missed before it', () => {
    const due = { instants: [at(12)], missed: true, cursor: at(12), next: at(13) };
    expect(dueInstants(hourly, at(8), at(12, 1), 'once')).toEqual(due);
    expect(dueInstants(hourly, at(8), at(12, 1), 'skip')).toEqual(due);
  });

  it('TRIG-1: nothing is due before its time, and nothing of the past when the clock was put back', () => {
    for (const now of [at(8, 59), at(3)])
      expect(dueInstants(hourly, at(8), now, 'all')).toEqual({
        instants: [],
        missed: false,
        cursor: at(8),
        next: at(9),
      });
  });

  it('TRIG-1: a pass starts at most a thousand, and goes on where it stopped', () => {
    const minutely = scheduleOf('* * * * *');
    const { instants, cursor, next } = dueInstants(minutely, at(0), at(48), 'all');
    expect([instants.length, cursor, next]).toEqual([1_000, at(0, 1_000), at(0, 1_001)]);
    expect(dueInstants(minutely, cursor, at(48), 'all').instants[0]).toBe(at(0, 1_001));
  });
});

describe('jitter', () => {
  it('TRIG-1: is the same for the same trigger and instant, below the limit, and none where there is none', () => {
    const jitters = Array.from({ length: 200 }, (_, at) => jitterMs('t', at * 60_000, 60_000));
    expect(jitters).toEqual(Array.from({ length: 200 }, (_, at) => jitterMs('t', at * 60_000, 60_000)));
    expect(Math.min(...jitters)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...jitters)).toBeLessThan(60_000);
    expect(new Set(jitters).size).toBeGreaterThan(150);
    expect(jitterMs('other', 0, 60_000)).not.toBe(jitters[0]);
    expect(jitterMs('t', 0, 0)).toBe(0);
  });
});
