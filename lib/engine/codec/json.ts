import { UnreadablePayloadError } from '../../errors/index.js';
import { writeJson } from './canonical-json.js';
import { JsonCheck } from './json-check.js';
import { type EncodeJsonOptions, MAX_JSON_BYTES, refusalOf, tooLarge } from './json-refused.js';

/**
 * A value as the JSON text that is stored, exact or not at all: `decodeJson` gives back an equal value.
 *
 * undefined (a void result) is `null`, undefined properties are dropped. Strings keep every code point, U+0000 and lone
 * surrogates too (written as escapes, which a PostgreSQL `json` column takes); numbers keep -0. Own `__proto__` keys are
 * keys like any other. Non-enumerable properties and the absence of a prototype are not kept.
 *
 * @throws InvalidOutputError (InvalidInputError when `kind` is 'input'), and nothing else, naming the path of what JSON
 * can't hold: BigInt, Date, Map, Set and every other class instance, NaN, ±Infinity, functions, symbols, symbol keys,
 * undefined or holes in arrays, named properties of arrays, cycles, more than 1,000 levels, getters that throw; or the
 * limit when the text has more bytes than `maxBytes`
 */
export function encodeJson(value: unknown, options: EncodeJsonOptions = {}): string {
  const { maxBytes = MAX_JSON_BYTES } = options;
  if (value === undefined) return 'null';
  const check = new JsonCheck(maxBytes);
  let text: string;
  try {
    check.walk(value);
    text = check.hasNegativeZero ? writeJson(value, writeExactly, false) : JSON.stringify(value);
  } catch (error) {
    throw refusalOf(error, check, options);
  }
  // A character has three bytes at most, so that most texts need no counting.
  if (text.length * 3 > maxBytes) {
    const bytes = byteLength(text);
    if (bytes > maxBytes) throw tooLarge(text, bytes, options);
  }
  return text;
}

/**
 * The value of a stored JSON text.
 *
 * @param what names the text in the error
 * @throws UnreadablePayloadError when it is no JSON
 */
export function decodeJson(text: string, what = 'A payload'): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UnreadablePayloadError(
      { what, reason: error instanceof Error ? error.message : 'no JSON' },
      { cause: error },
    );
  }
}

/** Bytes of a text in UTF-8, which is what limits count. */
export function byteLength(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}

function writeExactly(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}
