import { isStoredDate, isStoredInstant } from '../codec/index.js';

/**
 * What an expression is asked for: `bool` a condition, `list` something to loop over, `count` a whole number from 0 on,
 * `text`, `instant` a timestamp or an ISO 8601 text with its zone, `value` anything that JSON holds.
 */
export type ExpressionResult = 'bool' | 'list' | 'count' | 'text' | 'instant' | 'value';

const TIMESTAMP = 'google.protobuf.Timestamp';
const NO_JSON = /^(?:bytes|uint|type|google\.protobuf\.Duration|optional)/;

/** What is asked for, in words. */
export const RESULT_WORDS: Readonly<Record<ExpressionResult, string>> = Object.freeze({
  bool: 'true or false',
  list: 'a list',
  count: 'a whole number from 0 on',
  text: 'a text',
  instant: 'an instant: a timestamp, or a text such as "2030-01-01T00:00:00Z"',
  value: 'a value that JSON holds',
});

const INSTANT = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** Whether an expression of this CEL type can give it; `dyn` can give anything, and is asked again when it has. */
export function canGive(type: string, result: ExpressionResult): boolean {
  if (type === 'dyn') return true;
  switch (result) {
    case 'bool':
      return type === 'bool';
    case 'list':
      return type.startsWith('list');
    case 'count':
      return type === 'int' || type === 'double';
    case 'text':
      return type === 'string';
    case 'instant':
      return type === TIMESTAMP || type === 'string';
    case 'value':
      return !NO_JSON.test(type);
  }
}

/** What an evaluation gave, as JSON; undefined where it is not what was asked for. */
export function readResult(value: unknown, result: ExpressionResult): unknown {
  switch (result) {
    case 'bool':
      return typeof value === 'boolean' ? value : undefined;
    case 'list':
      return Array.isArray(value) ? toJson(value) : undefined;
    case 'count': {
      const count = typeof value === 'bigint' ? Number(value) : value;
      return Number.isSafeInteger(count) && (count as number) >= 0 ? count : undefined;
    }
    case 'text':
      return typeof value === 'string' ? value : undefined;
    case 'instant':
      return readInstant(value);
    case 'value':
      return toJson(value);
  }
}

function readInstant(value: unknown): string | undefined {
  if (value instanceof Date) return isStoredDate(value) ? value.toISOString() : undefined;
  if (typeof value !== 'string' || !INSTANT.test(value)) return undefined;
  return isStoredInstant(value) ? value : undefined;
}

/** CEL's values as JSON's, undefined where one is none of them: NaN, bytes, a whole number that JSON would round. */
function toJson(value: unknown): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return Number.isFinite(value) ? value : undefined;
    case 'bigint':
      return Number.isSafeInteger(Number(value)) ? Number(value) : undefined;
    case 'object':
      return value === null ? null : wholeToJson(value);
    default:
      return undefined;
  }
}

function wholeToJson(value: object): unknown {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? undefined : value.toISOString();
  if (Array.isArray(value)) {
    const items = value.map(toJson);
    return items.includes(undefined) ? undefined : items;
  }
  const entries = value instanceof Map ? [...value.entries()] : plainEntries(value);
  if (entries === undefined) return undefined;
  const fields = entries.map(([key, item]) => [key, toJson(item)] as const);
  if (fields.some(([key, item]) => typeof key !== 'string' || item === undefined)) return undefined;
  // Defines each key, `__proto__` too, where an assignment would set a prototype.
  return Object.fromEntries(fields as [string, unknown][]);
}

function plainEntries(value: object): [unknown, unknown][] | undefined {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null ? Object.entries(value) : undefined;
}
