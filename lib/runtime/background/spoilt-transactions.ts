import type { Pauses } from './pauses.js';

/** So many in a row, within some three seconds, and it is no longer "not now". */
const MOST = 10;
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 500;

/**
 * Transactions of the host's, one after the other for one outcome, that came as far as the engine's own write and failed there for now.
 *
 * A deadlock or a server that goes away passes. What the body itself has made impossible (a transaction that it set read only, a
 * timeout of a millisecond, a lock that somebody holds against it each time) has the same SQLSTATEs and does not: done again for ever,
 * body and all, its stage would never end. In the end the error is a failure of the step's or the attempt's, and their retry decides.
 */
export class SpoiltTransactions {
  #count = 0;

  constructor(private readonly pauses: Pauses) {}

  /** Waits before the next one. @throws `error` when there were too many; that is for whoever called */
  async again(error: unknown): Promise<void> {
    this.#count += 1;
    if (this.#count >= MOST) throw error;
    await this.pauses.sleep(Math.min(FIRST_PAUSE_MS * 2 ** (this.#count - 1), LONGEST_PAUSE_MS));
  }

  /** The database itself was away, which explains those before. */
  forget(): void {
    this.#count = 0;
  }
}
