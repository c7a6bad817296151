import { JsonCheck } from './json-check.js';
import { refusalOf } from './json-refused.js';

/**
 * A value as JSON with the keys of every object in one order (by UTF-16 units) and -0 as 0, so that two values that mean
 * the same have the same text, whatever order their keys were written in. undefined properties are dropped.
 *
 * @throws InvalidOutputError for what JSON can't hold, as `encodeJson` does
 * @example canonicalJson({ b: 1, a: [true] }) // '{"a":[true],"b":1}'
 */
export function canonicalJson(value: unknown): string {
  if (value === undefined) return 'null';
  const check = new JsonCheck(Infinity);
  try {
    check.walk(value);
    return writeJson(value, (number) => String(number), true);
  } catch (error) {
    throw refusalOf(error, check, {});
  }
}

/** Writes a checked value by hand, for what the native stringifier can't do: an order of keys, and -0. */
export function writeJson(value: unknown, writeNumber: (value: number) => string, sorted: boolean): string {
  if (typeof value === 'number') return writeNumber(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => writeJson(item, writeNumber, sorted)).join(',')}]`;
  const keys = Object.keys(value);
  if (sorted) keys.sort();
  const parts: string[] = [];
  for (const key of keys) {
    const item = (value as Record<string, unknown>)[key];
    if (item !== undefined) parts.push(`${JSON.stringify(key)}:${writeJson(item, writeNumber, sorted)}`);
  }
  return `{${parts.join(',')}}`;
}
