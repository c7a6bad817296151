import { validate, version } from 'uuid';
import { createNextId } from '../../../lib/composition/new-id.js';

describe('createNextId', () => {
  it('RUN-6: ids are UUIDv7 in rising order, within a millisecond and when the clock goes back', () => {
    let clock = 1_800_000_000_000;
    const nextId = createNextId(() => clock);
    const ids = Array.from({ length: 3_000 }, (_, n) => {
      if (n === 1_000) clock += 1;
      if (n === 2_000) clock -= 60_000;
      return nextId();
    });
    expect([...ids].sort()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.every((id) => validate(id) && version(id) === 7)).toBe(true);
  });

  it('RUN-6: two processes at one instant make different ids', () => {
    const [first, second] = [createNextId(() => 1), createNextId(() => 1)];
    expect(first()).not.toBe(second());
  });
});
