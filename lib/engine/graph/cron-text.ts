/** A field of a cron text: what it counts, and from where to where. */
interface CronField {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  /** Names for numbers, the first one for `from`. */
  readonly names?: readonly string[];
}

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const DAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];

const FIELDS: readonly CronField[] = [
  { name: 'minute', from: 0, to: 59 },
  { name: 'hour', from: 0, to: 23 },
  { name: 'day of month', from: 1, to: 31 },
  { name: 'month', from: 1, to: 12, names: MONTHS },
  { name: 'day of week', from: 0, to: 7, names: DAYS },
];

const DAYS_OF_MONTH = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const PART = /^(\*|[0-9A-Za-z]+)(?:-([0-9A-Za-z]+))?(?:\/(\d+))?$/;
const MAX_PARTS = 60;

/**
 * Why a text is no cron text, or null where it is one: five fields (minute, hour, day of month, month, day of week), each `*`, a
 * number, a name (`MON`, `JAN`), a range `a-b`, one of these with a step `/n`, or a list of them with commas. What every cron
 * understands alike; that some instant exists is checked too.
 *
 * @example cronMisfit('0 9 * * MON-FRI') // null
 */
export function cronMisfit(text: string): string | null {
  const fields = text.trim().split(/\s+/);
  if (fields.length !== FIELDS.length)
    return `it has ${text.trim() === '' ? 0 : fields.length} fields, not five: minute, hour, day of month, month, day of week`;
  const values: ReadonlySet<number>[] = [];
  for (const [at, field] of FIELDS.entries()) {
    const read = readField(fields[at]!, field);
    if (typeof read === 'string') return `${field.name} ${read}`;
    values.push(read);
  }
  const [, , days, months] = values;
  // With a day of week beside it, either of the two is enough.
  const anyWeekday = fields[4] === '*';
  const exists = [...months!].some((month) => [...days!].some((day) => day <= DAYS_OF_MONTH[month - 1]!));
  return anyWeekday && !exists ? 'no month has such a day' : null;
}

function readField(text: string, field: CronField): ReadonlySet<number> | string {
  const values = new Set<number>();
  const parts = text.split(',');
  if (parts.length > MAX_PARTS) return `has ${parts.length} parts, over ${MAX_PARTS}`;
  for (const part of parts) {
    const [, first, last, step] = PART.exec(part) ?? [];
    if (first === undefined) return `"${part.slice(0, 20)}" is not understood`;
    const every = step === undefined ? 1 : Number(step);
    if (every < 1 || every > field.to) return `has the step ${step!.slice(0, 20)}; it must be from 1 to ${field.to}`;
    const from = first === '*' ? field.from : numberOf(first, field);
    const to = first === '*' || (last === undefined && step !== undefined) ? field.to : numberOf(last ?? first, field);
    if (first === '*' && last !== undefined) return `"${part.slice(0, 20)}" is not understood`;
    if (from === null || to === null) return `"${part.slice(0, 20)}" is not from ${field.from} to ${field.to}`;
    if (from > to) return `"${part.slice(0, 20)}" goes backwards`;
    for (let value = from; value <= to; value += every) values.add(value);
  }
  return values;
}

function numberOf(text: string, { from, to, names = [] }: CronField): number | null {
  const named = names.indexOf(text.toUpperCase());
  if (named >= 0) return named + from;
  const value = /^\d{1,2}$/.test(text) ? Number(text) : -1;
  return value >= from && value <= to ? value : null;
}
