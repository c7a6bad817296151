import vm from 'node:vm';
import { fc } from '../../../support/properties.js';
import { MAX_JSON_DEPTH, byteLength, decodeJson, encodeJson } from '../../../../lib/engine/codec/index.js';
import { InvalidInputError, InvalidOutputError, UnreadablePayloadError } from '../../../../lib/errors/index.js';

function refusal(value: unknown): string {
  try {
    encodeJson(value);
  } catch (error) {
    if (error instanceof InvalidOutputError) return `${error.path} ${error.reason}`;
    throw error;
  }
  throw new Error('the value was taken');
}

function roundTrip(value: unknown): unknown {
  return decodeJson(encodeJson(value));
}

class Money {
  amount = 1;
}

describe('encodeJson', () => {
  it('DEF-6: any JSON value comes back exactly', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary', maxDepth: 6 }), (value) => {
        expect(roundTrip(value)).toStrictEqual(value);
      }),
    );
  });

  it('DEF-6: whatever the value, it comes back as it was or is refused as INVALID_OUTPUT', () => {
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withSparseArray: true,
      withTypedArray: true,
      withBoxedValues: true,
      withNullPrototype: true,
      withObjectString: true,
      stringUnit: 'binary',
    });
    fc.assert(
      fc.property(anything, (value) => {
        let text: string;
        try {
          text = encodeJson(value);
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidOutputError);
          return;
        }
        // toEqual, not toStrictEqual: undefined properties are dropped, and a null prototype is not kept.
        expect(decodeJson(text)).toEqual(value === undefined ? null : value);
        expect(encodeJson(decodeJson(text))).toBe(text);
      }),
      { numRuns: 1_000 },
    );
  });

  it('FAULT A1: U+0000 and lone surrogates come back exactly, as values and as keys, from a text with neither', () => {
    const value = { a: 'x\u0000y', 'k\u0000': 1, '\ud800': '\udc00\ud800', pair: '\u{1f600}' };
    const text = encodeJson(value);
    expect(text).not.toMatch(/\0/);
    expect(Buffer.from(text, 'utf8').toString('utf8')).toBe(text);
    expect(text).toContain('x\\u0000y');
    expect(decodeJson(text)).toStrictEqual(value);
    expect(roundTrip({ ...value, zero: -0 })).toStrictEqual({ ...value, zero: -0 });
  });

  it('FAULT A3: a stage that returns nothing is stored as null', () => {
    expect(encodeJson(undefined)).toBe('null');
    expect(roundTrip(undefined)).toBeNull();
  });

  it('FAULT A4: a Date is refused, so that no body sees a Date first and a text after a restart', () => {
    expect(refusal(new Date(0))).toBe('$ is a Date; return toISOString() or getTime(), or give the schema a codec');
  });

  it('FAULT K34: the path of a Date inside an output is named', () => {
    expect(refusal({ items: [1, 2, 3, { at: new Date(0) }] })).toMatch(/^\$\.items\[3\]\.at is a Date/);
    expect(refusal({ 'odd key\n': { '9a': new Date(NaN) } })).toMatch(/^\$\["odd key\\n"\]\["9a"\] is a Date/);
  });

  it.each([
    ['a Set', { v: new Set([1]) }, 'is a Set'],
    ['a Map', { v: new Map() }, 'is a Map'],
    ['a function', { v() {} }, 'is a function'],
    ['a symbol', { v: Symbol('s') }, 'is a symbol'],
    ['NaN', { v: NaN }, 'is NaN'],
    ['Infinity', { v: Infinity }, 'is Infinity'],
    ['-Infinity', { v: -Infinity }, 'is -Infinity'],
    ['a class instance', { v: new Money() }, 'is an instance of Money'],
    ['an instance of a nameless class', { v: new (class {})() }, 'is an instance of a class'],
    ['a boxed number', { v: new Number(1) }, 'is an instance of Number'],
    ['a RegExp', { v: /x/ }, 'is an instance of RegExp'],
    ['an Error', { v: new Error('x') }, 'is an instance of Error'],
    ['a Promise', { v: Promise.resolve(1) }, 'is an instance of Promise'],
    ['bytes', { v: Buffer.from('x') }, 'is an instance of Buffer'],
    ['an object with inherited values', { v: Object.create({ a: 1 }) as object }, 'is an instance of Object'],
    ['an array of a subclass', { v: new (class List extends Array {})() }, 'is an instance of List'],
    ['a class instance with toJSON', { v: new URL('https://example.org') }, 'is an instance of URL'],
    ['an own toJSON', { v: { toJSON: () => 1 } }, 'is a function'],
  ])('FAULT A5: %s is refused at its path', (_, value, reason) => {
    const text = refusal(value);
    expect(text).toMatch(/^\$\.v/);
    expect(text).toContain(reason);
  });

  it.each([
    ['undefined', [1, undefined], '$[1] is undefined inside an array'],
    // eslint-disable-next-line no-sparse-arrays
    ['a hole', [1, , 3], '$[1] is a hole in an array'],
    ['a vast hole', Object.assign([], { length: 1e8 }), '$[0] is a hole'],
    ['a named property', Object.assign([1], { total: 1 }), '$.total is a named property of an array'],
    ['a RegExp match', 'ab'.match(/b/), '$.index is a named property of an array'],
  ])('FAULT A5: %s in an array is refused', (_, value, reason) => {
    expect(refusal(value)).toContain(reason);
  });

  it('FAULT A5: a symbol as key is refused, one that is not enumerable is nobody’s business', () => {
    expect(refusal({ a: { [Symbol('s')]: 1 } })).toMatch(/^\$\.a has a key that is a symbol/);
    expect(encodeJson(Object.defineProperty({ b: 1 }, Symbol('s'), { value: 1 }))).toBe('{"b":1}');
  });

  it('FAULT L3: a BigInt is refused as INVALID_OUTPUT', () => {
    expect(refusal({ n: 10n })).toMatch(/^\$\.n is a BigInt/);
  });

  it('FAULT A6: keys come back as they were written, in their order', () => {
    const value = { env: { OPENAI_BASE_URL: 'x', _a: 1, a_b_c: 2, aB: 3 } };
    expect(encodeJson(value)).toBe('{"env":{"OPENAI_BASE_URL":"x","_a":1,"a_b_c":2,"aB":3}}');
  });

  it('FAULT A7: a value over its limit is refused with limit, value and a preview; one byte less is taken', () => {
    const options = { maxBytes: 100, limit: 'limits.maxOutputBytes', what: 'Stage a' };
    expect(byteLength(encodeJson('x'.repeat(98), options))).toBe(100);
    for (const [value, size] of [
      ['x'.repeat(99), 'more than 100'],
      ['ä'.repeat(50), '102'],
      [Array.from({ length: 60 }, () => 1), '121'],
      [{ a: 'x'.repeat(40), b: 'y'.repeat(400) }, 'more than 100'],
    ] as const) {
      const error: InvalidOutputError = thrownBy(() => encodeJson(value, options));
      expect(error.code).toBe('INVALID_OUTPUT');
      expect(error.message).toContain(`${size} bytes as JSON, over limits.maxOutputBytes = 100;`);
      expect(error.params.preview!.length).toBeGreaterThan(50);
      expect(error.params.preview!.length).toBeLessThanOrEqual(200);
      expect(error.retryable).toBe(false);
    }
  });

  it('LIMIT-6: no value under its limit is refused, none over it is taken', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), fc.integer({ min: 1, max: 200 }), (value, maxBytes) => {
        const over = byteLength(encodeJson(value)) > maxBytes;
        expect(isRefused(() => encodeJson(value, { maxBytes }))).toBe(over);
      }),
    );
  });

  it('FAULT A7: a small value that unfolds into gigabytes is refused without unfolding it', () => {
    let value: unknown[] = [1];
    for (let level = 0; level < 60; level++) value = [value, value];
    expect(isRefused(() => encodeJson(value, { maxBytes: 65_536 }))).toBe(true);
  });

  it('FAULT A9: a cycle is refused where it closes; a value that stands twice is no cycle', () => {
    const value = { a: { list: [1, {} as Record<string, unknown>] } };
    (value.a.list[1] as Record<string, unknown>).back = value.a;
    expect(refusal(value)).toMatch(/^\$\.a\.list\[1\]\.back contains itself/);
    const shared = { x: 1 };
    expect(roundTrip([shared, shared, { shared }])).toStrictEqual([{ x: 1 }, { x: 1 }, { shared: { x: 1 } }]);
  });

  it('FAULT A9: nesting that would overflow the stack is refused, and nesting up to the limit comes back', () => {
    const nested = (levels: number): unknown => {
      let value: unknown = 1;
      for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value };
      return value;
    };
    expect(roundTrip(nested(MAX_JSON_DEPTH))).toStrictEqual(nested(MAX_JSON_DEPTH));
    expect(refusal(nested(MAX_JSON_DEPTH + 1))).toContain('nested deeper than 1000 levels');
    expect(refusal(nested(1_000_000)).length).toBeLessThan(700);
  });

  it('FAULT A9: a stack that is nearly used up gives a refusal, never a RangeError', () => {
    const value = Array.from({ length: 5 }).reduce<unknown>((inner) => ({ inner, list: [inner] }), 1);
    const deep = Array.from({ length: 300 }).reduce<unknown>((inner) => [inner], value);
    const outcomes = new Set<string>();
    const encodeAt = (depth: number): void => {
      if (depth > 0) return encodeAt(depth - 1);
      try {
        encodeJson(deep);
        outcomes.add('encoded');
      } catch (error) {
        outcomes.add((error as Error).name);
      }
    };
    let deepest = 0;
    const measure = (): void => {
      deepest += 1;
      measure();
    };
    expect(measure).toThrow(RangeError);
    // Room for the error that says so, not for the value.
    for (let left = 100; left < deepest; left += 100) {
      try {
        encodeAt(deepest - left);
      } catch {
        outcomes.add('no room to call it');
      }
    }
    expect(outcomes).toContain('InvalidOutputError');
    expect(outcomes).toContain('encoded');
  });

  it('FAULT A9: getters and proxies that throw are refused at their path', () => {
    const getter = {
      get bad(): number {
        throw new Error('not now\0');
      },
    };
    expect(refusal({ list: [getter] })).toBe("$.list[0].bad can't be read: not now\ufffd");
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(refusal({ proxy })).toMatch(/^\$\.proxy can't be read/);
    expect(refusal(new Proxy({}, { ownKeys: () => [1] as unknown as string[] }))).toMatch(/^\$ can't be read/);
    const throwing = new Proxy(
      {},
      {
        getPrototypeOf: () => {
          // eslint-disable-next-line @typescript-eslint/only-throw-error
          throw null;
        },
      },
    );
    expect(refusal(throwing)).toBe("$ can't be read: object");
  });

  it('DEF-6: a getter that changes its mind between two reads is stored or refused, never an error of another kind', () => {
    let reads = 0;
    const value = Object.defineProperty({}, 'n', { enumerable: true, get: () => (reads++ === 0 ? 1 : 10n) });
    expect(refusal(value)).toMatch(/can't be read/);
  });

  it('FAULT A11: an own __proto__ key is a key like any other and pollutes nothing', () => {
    const text = '{"__proto__":{"a":1},"constructor":{"prototype":{"x":1}},"z":-0}';
    const value = decodeJson(text) as Record<string, unknown>;
    expect(Object.hasOwn(value, '__proto__')).toBe(true);
    expect((value as { a?: unknown }).a).toBeUndefined();
    expect(encodeJson(value)).toBe(text);
    expect(({} as { a?: unknown }).a).toBeUndefined();
  });

  it.each([0, -0, '', false, null, [], {}, [[]], { a: [], b: {} }, 1e21, 5e-324, Number.MAX_SAFE_INTEGER, 0.1 + 0.2])(
    'FAULT A13: %p is a value like any other and comes back',
    (value) => {
      expect(roundTrip({ value })).toStrictEqual({ value });
      expect(roundTrip(value)).toStrictEqual(value);
    },
  );

  it('DEF-6: -0 is kept, and costs nothing else its form', () => {
    expect(encodeJson({ a: -0, b: [0, 1.5, 'x', null, true], u: undefined })).toBe(
      '{"a":-0,"b":[0,1.5,"x",null,true]}',
    );
  });

  it('DEF-6: undefined properties are dropped', () => {
    expect(encodeJson({ a: undefined, b: { c: undefined }, d: 1 })).toBe('{"b":{},"d":1}');
  });

  it('DEF-6: plain objects of another realm and without a prototype are plain', () => {
    const foreign: unknown = vm.runInNewContext('({ list: [1, { a: 2 }] })');
    expect(encodeJson(foreign)).toBe('{"list":[1,{"a":2}]}');
    expect(encodeJson(Object.assign(Object.create(null) as object, { a: 1 }))).toBe('{"a":1}');
    expect(refusal(vm.runInNewContext('new Date(0)'))).toContain('is a Date');
  });

  it('LIMIT-6: a run input is refused as INVALID_INPUT, with the path among the issues', () => {
    const error: InvalidInputError = thrownBy(() =>
      encodeJson({ at: new Date(0) }, { kind: 'input', what: 'document-analysis', path: 'input' }),
    );
    expect(error).toBeInstanceOf(InvalidInputError);
    expect(error.issues).toEqual([{ path: 'input.at', message: expect.stringContaining('is a Date') as string }]);
    const large: InvalidInputError = thrownBy(() =>
      encodeJson('xxx', { kind: 'input', maxBytes: 4, limit: 'limits.maxInputBytes' }),
    );
    expect(large.message).toContain('over limits.maxInputBytes = 4');
    expect(large.message).toContain('The input of the run');
  });
});

describe('decodeJson', () => {
  it('DEF-6: a stored text that is no JSON is refused by name', () => {
    const error: UnreadablePayloadError = thrownBy(() => decodeJson('undefined', 'The output of a'));
    expect(error).toBeInstanceOf(UnreadablePayloadError);
    expect(error.message).toContain('The output of a is stored as a text that is not JSON');
    expect(thrownBy<UnreadablePayloadError>(() => decodeJson('')).params.what).toBe('A payload');
  });
});

function isRefused(call: () => unknown): boolean {
  try {
    call();
    return false;
  } catch (error) {
    if (error instanceof InvalidOutputError) return true;
    throw error;
  }
}

function thrownBy<E>(call: () => unknown): E {
  try {
    call();
  } catch (error) {
    return error as E;
  }
  throw new Error('nothing was thrown');
}
