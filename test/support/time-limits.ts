import { Deadlines, type Deadline } from '../../lib/runtime/background/deadlines.js';

export interface TimeLimits {
  /** How many are open. */
  readonly open: number;
  /** The limit that is open now is over. Throws when none is, or several are. */
  reach(): void;
}

/**
 * Takes time limits of one length from the clock: each is over when the test says so, however slow the machine, and no
 * other one ever. Limits of other lengths go on as they are. Until `jest.restoreAllMocks()`.
 */
export function timeLimitsByHand(ms: number): TimeLimits {
  const open = new Set<Deadline>();
  const { add, drop } = Deadlines.prototype;
  jest.spyOn(Deadlines.prototype, 'add').mockImplementation(function (this: Deadlines, inMs, reached) {
    if (inMs !== ms) return add.call(this, inMs, reached);
    const deadline = { at: Infinity, reached };
    open.add(deadline);
    return deadline;
  });
  jest.spyOn(Deadlines.prototype, 'drop').mockImplementation(function (this: Deadlines, deadline) {
    if (!deadline || !open.delete(deadline)) drop.call(this, deadline);
  });
  return {
    get open() {
      return open.size;
    },
    reach() {
      const [limit, ...others] = open;
      if (!limit || others.length > 0) throw new Error(`${open.size} limits of ${ms} ms are open, not one.`);
      open.delete(limit);
      limit.reached();
    },
  };
}
