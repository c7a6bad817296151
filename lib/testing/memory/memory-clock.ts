/** What the in-memory store asks for the time. */
export interface StoreClock {
  /** Milliseconds since 1970. */
  now(): number;
}

/**
 * A clock that a test moves by hand.
 *
 * It goes on by itself from the clock below it (the computer's, by default) plus what it was moved; a clock made by
 * `MemoryClock.standing()` only ever moves by hand.
 *
 * @publicApi
 */
export class MemoryClock implements StoreClock {
  #movedMs = 0;

  constructor(private readonly below: () => number = Date.now) {}

  /** A clock that stands still until it is moved. @param at milliseconds since 1970 @default the time now */
  static standing(at: number = Date.now()): MemoryClock {
    return new MemoryClock(() => at);
  }

  now(): number {
    return this.below() + this.#movedMs;
  }

  /** Moves it on by `ms`, which may be negative: the clock of a host can be put back, too. */
  advance(ms: number): void {
    if (!Number.isFinite(ms)) throw new RangeError(`A clock moves by a finite number of milliseconds, not ${ms}.`);
    this.#movedMs += ms;
  }
}
