import { readSafely } from './read-safely.js';

/**
 * The deepest nesting of arrays and objects: far more than data needs, and far less than would overflow the stack here,
 * in `JSON.parse`, or in PostgreSQL's own parser.
 */
export const MAX_JSON_DEPTH = 1_000;

/** Why a value is no JSON; `JsonCheck.keys` says where. */
export class JsonRefusal {
  constructor(
    readonly reason: string,
    /** The text that went over the size limit, when one did. */
    readonly oversized?: string,
  ) {}
}

/**
 * One walk through a value that decides whether `JSON.stringify` would keep all of it. Walking first and leaving the
 * writing to the native stringifier is more than twice as fast as writing the text by hand.
 */
export class JsonCheck {
  /** Where the walk is, or where it stopped: one key for each open array or object. */
  readonly keys: (string | number)[] = [];
  /** A -0 was met, which JSON can hold but `JSON.stringify` writes as 0. */
  hasNegativeZero = false;
  private readonly open: object[] = [];
  private room: number;

  /** @param maxLength stop as soon as the text must be longer than this, a lower bound of its bytes */
  constructor(maxLength: number) {
    this.room = maxLength;
  }

  /** @throws JsonRefusal, or whatever a getter or a proxy inside the value throws */
  walk(value: unknown): void {
    switch (typeof value) {
      case 'string':
        return this.take(value.length + 2, value);
      case 'number':
        return this.walkNumber(value);
      case 'boolean':
        return;
      case 'object':
        if (value === null) return;
        return Array.isArray(value) ? this.walkArray(value) : this.walkObject(value);
      default:
        throw new JsonRefusal(REASONS[typeof value as keyof typeof REASONS]);
    }
  }

  private walkNumber(value: number): void {
    if (!Number.isFinite(value)) throw new JsonRefusal(`is ${value}, which JSON has no number for; use null`);
    if (value === 0 && Object.is(value, -0)) this.hasNegativeZero = true;
  }

  private walkArray(value: readonly unknown[]): void {
    if (!isArrayPrototype(Object.getPrototypeOf(value))) throw new JsonRefusal(describeInstance(value));
    const depth = this.enter(value);
    const { length } = value;
    this.take(length);
    for (let at = 0; at < length; at++) {
      this.keys[depth] = at;
      const item = value[at];
      if (item === undefined) {
        throw new JsonRefusal(
          at in value ? 'is undefined inside an array; use null' : 'is a hole in an array; use null',
        );
      }
      this.walk(item);
    }
    // A RegExp match carries `index` and `groups` beside its items, which JSON would drop without a word.
    if (Object.keys(value).length !== length) this.refuseExtraKeys(value, depth);
    this.leave();
  }

  private walkObject(value: object): void {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && !isPlainPrototype(prototype)) throw new JsonRefusal(describeInstance(value));
    const keys = Object.keys(value);
    const depth = this.enter(value);
    for (const key of keys) {
      this.keys[depth] = key;
      const item = (value as Record<string, unknown>)[key];
      if (item === undefined) continue;
      this.take(key.length + 4, key);
      this.walk(item);
    }
    if (Object.getOwnPropertySymbols(value).length > 0) this.refuseSymbolKeys(value);
    this.leave();
  }

  private enter(value: object): number {
    const { open } = this;
    for (let at = open.length - 1; at >= 0; at--) {
      if (open[at] === value) throw new JsonRefusal('contains itself (a cycle); leave the reference out, or use an id');
    }
    if (open.length >= MAX_JSON_DEPTH)
      throw new JsonRefusal(`is nested deeper than ${MAX_JSON_DEPTH} levels; flatten it`);
    open.push(value);
    return this.keys.push('') - 1;
  }

  private leave(): void {
    this.open.pop();
    this.keys.pop();
  }

  private take(length: number, text?: string): void {
    this.room -= length;
    if (this.room < 0) throw new JsonRefusal('', text ?? '');
  }

  private refuseExtraKeys(value: readonly unknown[], depth: number): void {
    this.keys[depth] = Object.keys(value).find((key) => !/^\d+$/.test(key)) ?? '';
    throw new JsonRefusal('is a named property of an array; return an object instead');
  }

  private refuseSymbolKeys(value: object): void {
    const symbols = Object.getOwnPropertySymbols(value).filter((key) =>
      Object.prototype.propertyIsEnumerable.call(value, key),
    );
    if (symbols.length === 0) return;
    this.keys.pop();
    throw new JsonRefusal('has a key that is a symbol; use a text as key');
  }
}

const REASONS = {
  bigint: 'is a BigInt; return a number or String(value)',
  function: 'is a function; leave it out',
  symbol: 'is a symbol; use a text',
  undefined: 'is undefined; use null',
} as const;

/** Objects of another realm (a vm context, a test runner's sandbox) have an Object.prototype of their own. */
function isPlainPrototype(prototype: unknown): boolean {
  if (prototype === null) return true;
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype as object, 'isPrototypeOf');
}

function isArrayPrototype(prototype: unknown): boolean {
  return (
    prototype === Array.prototype || (Array.isArray(prototype) && isPlainPrototype(Object.getPrototypeOf(prototype)))
  );
}

function describeInstance(value: object): string {
  const name = readSafely(readSafely(value, 'constructor'), 'name');
  const known = typeof name === 'string' && name !== '' ? name.slice(0, 60) : undefined;
  switch (known) {
    case 'Date':
      return 'is a Date; return toISOString() or getTime(), or give the schema a codec';
    case 'Map':
      return 'is a Map; return Object.fromEntries(map) or [...map]';
    case 'Set':
      return 'is a Set; return [...set]';
    default:
      return `is an instance of ${known ?? 'a class'}; return a plain object`;
  }
}
