const DAY_MS = 86_400_000;
/** Clocks are put forward and back at quarters of an hour of UTC, at the finest. */
const QUARTER_MS = 900_000;
/** Offsets that are remembered: asking the zone costs as much as a hundred of them. */
const MOST_KNOWN = 4_096;

/** The clock on the wall of a time zone. Times of it are milliseconds since 1970 as if it showed UTC. */
export class ZoneClock {
  readonly #format: Intl.DateTimeFormat;
  /** By quarter of an hour since 1970. */
  readonly #known = new Map<number, number>();

  /** @param timeZone a name of the IANA database */
  constructor(readonly timeZone: string) {
    this.#format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  }

  /** What it shows at an instant. */
  at(instant: number): number {
    return instant + this.offsetAt(instant);
  }

  /** How far it is ahead of UTC then, in milliseconds. */
  offsetAt(instant: number): number {
    const quarter = Math.floor(instant / QUARTER_MS);
    let offset = this.#known.get(quarter);
    if (offset === undefined) {
      offset = this.#readOffset(quarter * QUARTER_MS);
      if (this.#known.size >= MOST_KNOWN) this.#known.clear();
      this.#known.set(quarter, offset);
    }
    return offset;
  }

  #readOffset(instant: number): number {
    const parts: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
    for (const { type, value } of this.#format.formatToParts(instant)) parts[type] = Number(value);
    const { year, month, day, hour, minute, second } = parts as Record<Intl.DateTimeFormatPartTypes, number>;
    return Date.UTC(year, month - 1, day, hour, minute, second) - instant;
  }

  /** The least and the greatest offset within a day of an instant: where they differ, the clock is put forward or back there. */
  offsetsAround(instant: number): { readonly least: number; readonly greatest: number } {
    const offsets = [-DAY_MS, 0, DAY_MS].map((by) => this.offsetAt(instant + by));
    return { least: Math.min(...offsets), greatest: Math.max(...offsets) };
  }

  /**
   * The instants at which it shows a time: one; two, where it is put back over that time; none, where it is put forward over it. For
   * the last, `instead` is the instant that the clock would have shown it at, had it not been put forward.
   */
  instantsOf(time: number): { readonly instants: readonly number[]; readonly instead: number } {
    const before = this.offsetAt(time - DAY_MS);
    const after = this.offsetAt(time + DAY_MS);
    const candidates =
      before === after ? [time - before] : [time - Math.max(before, after), time - Math.min(before, after)];
    return { instants: candidates.filter((instant) => this.at(instant) === time), instead: time - before };
  }
}
