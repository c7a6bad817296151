import { fc } from '../../../support/properties.js';
import { canonicalJson, decodeJson, digest } from '../../../../lib/engine/codec/index.js';
import { InvalidOutputError, UndefinedIdError } from '../../../../lib/errors/index.js';

describe('canonicalJson', () => {
  it('FAULT K29: the order in which keys were written makes no difference, any other difference does', () => {
    expect(canonicalJson({ b: [{ z: 1, a: 2 }], a: 'x' })).toBe('{"a":"x","b":[{"a":2,"z":1}]}');
    expect(canonicalJson({ a: 1, b: 2 })).toBe(canonicalJson({ b: 2, a: 1, c: undefined }));
    expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]));
    expect(canonicalJson({ a: '1' })).not.toBe(canonicalJson({ a: 1 }));
    expect(canonicalJson({ a: null })).not.toBe(canonicalJson({}));
  });

  it('IDEM-3: it is JSON of the same value, and the same text again when made from that', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        const text = canonicalJson(value);
        expect(decodeJson(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalJson(decodeJson(text))).toBe(text);
      }),
    );
  });

  it('IDEM-3: -0 and 0, and nothing and null, are the same input', () => {
    expect(canonicalJson({ a: -0 })).toBe(canonicalJson({ a: 0 }));
    expect(canonicalJson(undefined)).toBe('null');
  });

  it('IDEM-3: what JSON cannot hold is refused as it is when encoded', () => {
    expect(() => canonicalJson({ a: { at: new Date(0) } })).toThrow(InvalidOutputError);
    expect(() => canonicalJson({ a: { at: new Date(0) } })).toThrow('$.a.at is a Date');
  });
});

describe('digest', () => {
  it('IDEM-1: it is SHA-256, and parts cannot be shifted, joined or taken for each other', () => {
    expect(digest(['a']).toString('hex')).toBe('0eb5b8d6f81bc677da8a08567cc4fa9a06a57e9ec8da85ed73a7f62727996002');
    const lists = [
      [],
      [''],
      ['', ''],
      ['ab', 'c'],
      ['a', 'bc'],
      ['a,b'],
      ['a', 'b'],
      [null],
      ['null'],
      ['\ud800'],
      ['\ud801'],
      ['\ufffd'],
      ['"'],
      ['\\"'],
    ];
    const digests = new Set(lists.map((parts) => digest(parts).toString('hex')));
    expect(digests.size).toBe(lists.length);
    expect(digest(['a', null])).toHaveLength(32);
    expect(digest(['a', null])).toEqual(digest(['a', null]));
  });

  it('FAULT A18: an undefined part is refused, not taken for another key', () => {
    expect(() => digest(['start', undefined as unknown as string])).toThrow(UndefinedIdError);
    expect(() => digest(['start', undefined as unknown as string])).toThrow('Part 2 of a key is undefined');
  });
});
