import { isStoredDate, isStoredInstant } from '../../../../lib/engine/codec/index.js';

describe('instants that are stored as what they are', () => {
  it.each<[string, unknown, boolean]>([
    ['the first', new Date('0001-01-01T00:00:00Z'), true],
    ['the last', new Date('9999-12-31T23:59:59.999Z'), true],
    ['one of the year 0', new Date('0000-12-31T23:59:59.999Z'), false],
    ['one of the year 10000', new Date(Date.UTC(10_000, 0)), false],
    ['the last that JavaScript has', new Date(8.64e15), false],
    ['none', new Date(NaN), false],
    ['a number', 5, false],
  ])('FAULT A1: a Date: %s', (_, value, holds) => {
    expect(isStoredDate(value)).toBe(holds);
  });

  it.each<[string, boolean]>([
    ['2028-02-29T12:00:00Z', true],
    ['2030-01-01T00:00:00.123456+15:59', true],
    ['2030-01-01T00:00-1200', true],
    ['2030-02-29T12:00:00Z', false],
    ['2030-02-30T12:00:00Z', false],
    ['2030-13-01T12:00:00Z', false],
    ['0000-01-01T00:00:00Z', false],
    ['2030-01-01T00:00:00+16:00', false],
    ['9999-12-31T23:59:59-01:00', false],
  ])('FAULT A1: a text: %s', (text, holds) => {
    expect(isStoredInstant(text)).toBe(holds);
  });
});
