import { Cron, CronPattern } from 'croner';

/** A cron text that was understood: which times of a clock it names. What that clock's zone makes of them is not its business. */
export class CronText {
  /** It names all hours of the day: an interval, which goes on by real time when clocks are put forward or back. */
  readonly everyHour: boolean;

  private constructor(
    text: string,
    private readonly cron: Cron,
    /** What the library is asked with, set to the time in question: a text it would have to read each time. */
    private readonly asked: Date,
  ) {
    this.everyHour = new CronPattern(text, undefined, FIVE).hour.every((named) => named === 1);
  }

  /** A cron text, or why it is none: in words that follow "is not valid:". */
  static read(text: string): CronText | string {
    const fields = text.trim().split(/\s+/);
    if (text.trim() === '' || fields.length !== FIELDS.length) {
      const count = text.trim() === '' ? 0 : fields.length;
      return `it has ${count} ${count === 1 ? 'field' : 'fields'}, not five: ${FIELDS.map(({ name }) => name).join(', ')}`;
    }
    for (const [at, field] of FIELDS.entries()) {
      const alone = FIELDS.map((_, other) => (other === at ? fields[at]! : '*')).join(' ');
      if (!isPattern(alone)) return `"${fields[at]!.slice(0, 20)}" is no ${field.name}: ${field.takes}`;
    }
    const plain = fields.join(' ');
    const cron = new Cron(plain, { ...FIVE, utcOffset: 0 });
    const first = cron.nextRun('2000-01-01T00:00:00Z');
    return first === null ? 'no month has such a day' : new CronText(plain, cron, first);
  }

  /**
   * The next time of the clock that it names, after the given one; null where there is none. Both are milliseconds since 1970 as
   * if the clock showed UTC.
   */
  next(after: number): number | null {
    this.asked.setTime(after);
    return this.cron.nextRun(this.asked)?.getTime() ?? null;
  }
}

const FIVE = { mode: '5-part' } as const;

const FIELDS = [
  { name: 'minute', takes: 'write 0 to 59, *, a list 1,2, a range 1-5 or a step */5' },
  { name: 'hour', takes: 'write 0 to 23, *, a list 1,2, a range 1-5 or a step */5' },
  { name: 'day of month', takes: 'write 1 to 31, L for the last, *, a list 1,2, a range 1-5 or a step */5' },
  { name: 'month', takes: 'write 1 to 12 or JAN to DEC, *, a list, a range or a step' },
  { name: 'day of week', takes: 'write 0 to 7 or SUN to SAT, *, a list, a range, or MON#2 for the second Monday' },
] as const;

/** The library's own nicknames and modes are not ours: five fields, each of characters that fields are made of. */
function isPattern(text: string): boolean {
  if (!/^[\w*,/#? -]+$/.test(text)) return false;
  try {
    return new CronPattern(text, undefined, FIVE).minute.length > 0;
  } catch {
    return false;
  }
}
