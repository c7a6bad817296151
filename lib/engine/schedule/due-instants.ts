import type { Schedule } from './schedule.js';

/** What becomes of instants that nobody was there for. */
export type CatchUp = 'skip' | 'once' | 'all';

/** How late an instant may be and still count as in time: it takes a wake pass to come by. */
export const LATE_AFTER_MS = 300_000;

/** Most instants of one schedule in one pass; the others come in the next one. */
export const MOST_INSTANTS = 1_000;

export interface DueInstants {
  /** Those that start a run, oldest first. */
  readonly instants: readonly number[];
  /** Whether there were others, which nothing is started for. */
  readonly missed: boolean;
  /** Up to here, this one included, all is done when these are. */
  readonly cursor: number;
  /** The one after the cursor. Already due where there were too many for one pass. */
  readonly next: number | null;
}

/**
 * What of a schedule is due at `now`, everything up to `cursor` being done. An instant is missed when it is later than
 * `LATE_AFTER_MS`: `all` starts those too, `once` the last of them where nothing later stands for it, `skip` none.
 */
export function dueInstants(schedule: Schedule, cursor: number, now: number, catchUp: CatchUp): DueInstants {
  const from = catchUp === 'all' ? cursor : Math.max(cursor, now - LATE_AFTER_MS - 1);
  const recent = schedule.between(from, now, MOST_INSTANTS);
  const first = from === cursor ? null : schedule.next(cursor);
  const missed = first !== null && first <= from;
  const last = missed && recent.length === 0 ? schedule.last(cursor, from) : null;
  const instants = last !== null && catchUp === 'once' ? [last] : recent;
  const end = instants.at(-1) ?? last ?? cursor;
  return { instants, missed, cursor: end, next: schedule.next(end) };
}
