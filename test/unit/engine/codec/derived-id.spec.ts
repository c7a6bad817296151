import { v7, validate } from 'uuid';
import { derivedId } from '../../../../lib/engine/codec/index.js';

it('ANN-1: the same parts yield the same id, others another one, in the order of their numbers', () => {
  const base = v7();
  const numbers = [0, 1, 2, 255, 65_536, 65_537, 2 ** 30 - 1];
  const ids = numbers.map((number) => derivedId(base, 'line', number));
  expect(ids.every((id) => validate(id))).toBe(true);
  expect(ids.toSorted()).toEqual(ids);
  expect(numbers.map((number) => derivedId(base, 'line', number))).toEqual(ids);
  expect(derivedId(base, 'other', 1)).not.toBe(ids[1]);
  expect(derivedId(v7(), 'line', 1)).not.toBe(ids[1]);
});
