/** Which times of a day a plan names. */
export interface Plan {
  readonly hours: 'all' | readonly number[];
  /** Quarters of an hour: the walk looks at the clock no more often. */
  readonly minutes: readonly (0 | 15 | 30 | 45)[];
}

/** What a clock showed when somebody looked, both in minutes since 1970: of the world, and of the clock. */
interface Look {
  readonly at: number;
  readonly time: number;
}

const STEP = 15;
const DAY = 1_440;

/** Looks at the clock of a zone every quarter of an hour, from two days before on. */
export function watchClock(timeZone: string, from: number, until: number): Look[] {
  const shows = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  });
  const looks: Look[] = [];
  for (let at = from / 60_000 - 2 * DAY; at <= until / 60_000; at += STEP) {
    const [day, , month, , year, , hour, , minute] = shows.formatToParts(at * 60_000).map(({ value }) => Number(value));
    looks.push({ at, time: Date.UTC(year!, month! - 1, day!, hour!, minute!) / 60_000 });
  }
  return looks;
}

/**
 * The instants of a plan by what the clock showed: no cron text, no library but `Intl`, no arithmetic of offsets. Named hours count
 * once a day of the clock: the first time that it shows them, and where it jumps over them as late as it jumped.
 */
export function instantsOf({ hours, minutes }: Plan, looks: readonly Look[]): number[] {
  const names = (time: number): boolean =>
    (minutes as readonly number[]).includes(time % 60) &&
    (hours === 'all' || hours.includes(Math.floor(time / 60) % 24));
  const found = new Set<number>();
  const seen = new Set<number>();
  for (const [nr, { at, time }] of looks.entries()) {
    const expected = nr === 0 ? time : looks[nr - 1]!.time + STEP;
    if (names(time) && (hours === 'all' || !seen.has(time))) found.add(at);
    seen.add(time);
    if (hours === 'all') continue;
    for (let skipped = expected; skipped < time; skipped += STEP)
      if (names(skipped)) found.add(at + skipped - expected);
  }
  const begin = looks[0]!.at + 2 * DAY;
  const end = looks.at(-1)!.at;
  return [...found]
    .filter((at) => at > begin && at <= end)
    .sort((a, b) => a - b)
    .map((at) => at * 60_000);
}
