import { isPlainText, isSubject, MAX_KEY_LENGTH } from '../../../../lib/engine/codec/index.js';

describe('isPlainText', () => {
  it.each<[string, unknown, boolean]>([
    ['a key', 'order.paid', true],
    ['a text with a pair', '💶', true],
    ['a text of the largest size', 'k'.repeat(10), true],
    ['one longer', 'k'.repeat(11), false],
    ['nothing', '', false],
    ['blanks', ' \t', false],
    ['U+0000', 'a\0b', false],
    ['half of a character', '\ud83d', false],
    ['a number', 7, false],
    ['undefined', undefined, false],
  ])('FAULT A1: of %s: it is a text that is stored as it was given', (_, value, holds) => {
    expect(isPlainText(value, 10)).toBe(holds);
  });
});

describe('isSubject', () => {
  it.each<[string, unknown, boolean]>([
    ['both texts', { type: 'invoice', id: '7' }, true],
    ['no id', { type: 'invoice' }, false],
    ['a number for an id', { type: 'invoice', id: 7 }, false],
    ['an id that no index takes', { type: 'invoice', id: '7'.repeat(MAX_KEY_LENGTH + 1) }, false],
    ['a text', 'invoice', false],
    ['null', null, false],
    ['undefined', undefined, false],
  ])('WAIT-1: of %s: it is what an event may be about', (_, value, holds) => {
    expect(isSubject(value)).toBe(holds);
  });
});
