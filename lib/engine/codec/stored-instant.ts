/** The years that ISO 8601 writes with four digits, in milliseconds: the store reads no other text, nor a year 0. */
const FIRST_MS = Date.parse('0001-01-01T00:00:00Z');
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');

/** From this many hours on PostgreSQL takes no offset for one, where JavaScript does up to 24. */
const ZONE_HOURS = 16;

const DAY_MS = 86_400_000;

/**
 * Whether a value is a Date that is stored as the instant that it is: valid, in the years 1 to 9999.
 *
 * @example isStoredDate(new Date(8.64e15)) // false
 */
export function isStoredDate(value: unknown): value is Date {
  return value instanceof Date && isStored(value.getTime());
}

/**
 * The same of an ISO 8601 text with its zone. JavaScript takes 30 February for 2 March; the store takes it for a mistake, and so is it
 * here.
 *
 * @example isStoredInstant('2030-02-30T00:00:00Z') // false
 */
export function isStoredInstant(text: string): boolean {
  const [year, month, day] = text.slice(0, 10).split('-').map(Number);
  const zone = /[+-](\d\d):?\d\d$/.exec(text.slice(10));
  return isStored(Date.parse(text)) && day! <= daysOf(year!, month!) && Number(zone?.[1] ?? 0) < ZONE_HOURS;
}

const isStored = (ms: number): boolean => ms >= FIRST_MS && ms <= LAST_MS;

/** @param month from 1 */
const daysOf = (year: number, month: number): number => (Date.UTC(year, month) - Date.UTC(year, month - 1)) / DAY_MS;
