import { InvalidDurationError } from '../../errors/index.js';

/**
 * Milliseconds, or a text: a number with a unit (`'30s'`, `'5m'`, `'2 h'`, `'7 days'`, `'1 week'`, `'1.5 hours'`) or
 * ISO 8601 (`'PT5M'`, `'P1DT2H'`, `'P2W'`). Months and years have no fixed length and are refused.
 */
export type Duration = number | string;

/** The longest duration taken: 1,000 years of 365 days. Any instant that far ahead still fits every database and Date. */
export const MAX_DURATION_MS = 1_000 * 365 * 86_400_000;

const UNITS_MS: Readonly<Record<string, number>> = Object.freeze({
  ...unit(1, 'ms msec msecs millisecond milliseconds'),
  ...unit(1_000, 's sec secs second seconds'),
  ...unit(60_000, 'm min mins minute minutes'),
  ...unit(3_600_000, 'h hr hrs hour hours'),
  ...unit(86_400_000, 'd day days'),
  ...unit(7 * 86_400_000, 'w week weeks'),
});

const NO_FIXED_LENGTH = new Set(['mo', 'mon', 'month', 'months', 'y', 'yr', 'yrs', 'year', 'years']);
const WITH_UNIT = /^(\d+(?:\.\d+)?|\.\d+)\s*([a-z]+)$/i;
const ISO_8601 =
  /^P(?!$)(?:([\d.,]+)Y)?(?:([\d.,]+)M)?(?:([\d.,]+)W)?(?:([\d.,]+)D)?(?:T(?=\d)(?:([\d.,]+)H)?(?:([\d.,]+)M)?(?:([\d.,]+)S)?)?$/;
const CALENDAR_REASON = "months and years have no fixed length; write days or weeks, '30 days' for example";

/**
 * A duration in whole milliseconds, 0 included.
 *
 * @param what names the duration in the error: an option's path, or a step
 * @throws InvalidDurationError for what is negative, not finite, longer than 1,000 years, or no duration at all
 * @example parseDurationMs('5m', 'wake.every') // 300000
 */
export function parseDurationMs(value: Duration, what: string): number {
  if (typeof value === 'number') return checkRange(value, value, what);
  if (typeof value !== 'string') throw refuse(value, what, 'neither a number nor a text');

  const text = value.trim();
  const iso = ISO_8601.exec(text);
  if (iso) return checkRange(isoMs(iso, value, what), value, what);
  const [, amount, name] = WITH_UNIT.exec(text) ?? [];
  if (amount === undefined || name === undefined) throw refuse(value, what, explain(text));

  const word = name.toLowerCase();
  if (NO_FIXED_LENGTH.has(word)) throw refuse(value, what, CALENDAR_REASON);
  // '5M' is minutes to some and months to others: guessing wrong would be off by 43,000.
  if (name === 'M') throw refuse(value, what, "'M' may mean minutes or months; write '5m' or '150 days'");
  if (!Object.hasOwn(UNITS_MS, word)) throw refuse(value, what, `'${word.slice(0, 20)}' is no unit of time`);
  return checkRange(Number(amount) * UNITS_MS[word]!, value, what);
}

function isoMs([, years, months, ...rest]: RegExpExecArray, value: string, what: string): number {
  if (years !== undefined || months !== undefined) throw refuse(value, what, CALENDAR_REASON);
  const lengths = [7 * 86_400_000, 86_400_000, 3_600_000, 60_000, 1_000];
  return lengths.reduce((sum, length, at) => sum + Number((rest[at] ?? '0').replace(',', '.')) * length, 0);
}

function checkRange(ms: number, value: Duration, what: string): number {
  if (!Number.isFinite(ms)) throw refuse(value, what, 'not a finite number');
  if (ms < 0) throw refuse(value, what, 'negative');
  if (ms > MAX_DURATION_MS) throw refuse(value, what, 'longer than 1,000 years');
  return Math.round(ms);
}

function explain(text: string): string {
  if (text === '') return 'empty';
  if (/^[\d.]+$/.test(text)) return `without a unit; write ${text.slice(0, 20)} as a number for milliseconds`;
  if (text.startsWith('-')) return 'negative';
  if (/^(?:[\d.]+\s*[a-z]+\s*){2,}$/i.test(text)) return "more than one unit; write ISO 8601, 'PT1H30M' for example";
  return 'not understood';
}

function refuse(value: unknown, what: string, reason: string): InvalidDurationError {
  const shown =
    typeof value === 'string' ? `'${value.slice(0, 40)}'` : typeof value === 'object' ? 'an object' : String(value);
  return new InvalidDurationError({ what, value: shown.slice(0, 60), reason });
}

function unit(ms: number, names: string): Record<string, number> {
  return Object.fromEntries(names.split(' ').map((name) => [name, ms]));
}
