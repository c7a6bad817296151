import type { CronText } from './cron-text.js';
import type { ZoneClock } from './zone-clock.js';

/**
 * The instants that a cron text names in a time zone, in milliseconds since 1970.
 *
 * Where clocks are put forward or back:
 * - A text that names hours (`30 2 * * *`) keeps to the day's plan, each time of it once. A time that the clock never shows (02:30
 *   in the spring) comes as late as the clock was put forward (03:30); a time that it shows twice (in the autumn) counts the first time.
 * - A text that names all hours (`0,30 * * * *`) is an interval and keeps to real time: nothing in the hour that is not there,
 *   twice in the one that comes twice.
 *
 * Two times of the plan that fall on one instant are one start.
 */
export class Schedule {
  constructor(
    private readonly cron: CronText,
    private readonly clock: ZoneClock,
  ) {}

  /** The first instant after the given one, or null where there is none any more. */
  next(after: number): number | null {
    // Near a change the order of times is not that of instants: whatever could still come is looked at.
    let time = this.cron.next(after + this.clock.offsetsAround(after).least);
    let first: number | null = null;
    while (time !== null) {
      if (first !== null && time - this.clock.offsetsAround(first).greatest >= first) return first;
      for (const instant of this.#instantsOf(time))
        if (instant > after && (first === null || instant < first)) first = instant;
      time = this.cron.next(time);
    }
    return first;
  }

  /** Those after `after` up to `until`, at most so many. */
  between(after: number, until: number, limit: number): number[] {
    const found: number[] = [];
    let next = this.next(after);
    while (next !== null && next <= until && found.length < limit) {
      found.push(next);
      next = this.next(next);
    }
    return found;
  }

  /** The last one after `after` up to `until`, or null. What it costs does not grow with how many there are. */
  last(after: number, until: number): number | null {
    for (const back of LOOK_BACK_MS) {
      const from = Math.max(after, until - back);
      const last = this.#lastOf(from, until);
      if (last !== null || from === after) return last;
    }
    return this.#lastOf(after, until);
  }

  #lastOf(after: number, until: number): number | null {
    let last: number | null = null;
    for (let next = this.next(after); next !== null && next <= until; next = this.next(next)) last = next;
    return last;
  }

  #instantsOf(time: number): readonly number[] {
    const { instants, instead } = this.clock.instantsOf(time);
    if (this.cron.everyHour) return instants;
    return [instants[0] ?? instead];
  }
}

const HOUR_MS = 3_600_000;
const LOOK_BACK_MS = [HOUR_MS, 24 * HOUR_MS, 32 * 24 * HOUR_MS, 367 * 24 * HOUR_MS];
