import { isStoredDate } from '../engine/codec/index.js';
import { InvalidOptionsError } from '../errors/index.js';
import type { WakeReport } from '../runtime/wake/wake-report.js';

/** One pass; `now` is the instant that what is due is judged by. */
export type RunWakePass = (now?: Date) => Promise<WakeReport>;

/**
 * Does what is due: one pass over lost leases, lost jobs, delayed retries, deadlines, the outbox, stuck runs and expired
 * keys. Runs by itself every `wake.every`; call it where a platform's scheduler drives the app instead.
 *
 * Any number of processes may wake at once: each due thing happens once.
 *
 * @publicApi
 */
export class WakeService {
  readonly #pass: RunWakePass;

  constructor(pass: RunWakePass) {
    this.#pass = pass;
  }

  /**
   * Runs one pass and says what it found. A part that fails stands in `errors` and does not keep the others from it.
   *
   * @param now judge what is due (retries, delayed starts, deadlines) at this instant; leases and stuck runs stay on the
   * database's clock @default the database's clock
   * @throws InvalidOptionsError for an instant that is none; what keeps the engine from being ready
   */
  async wake(now?: Date): Promise<WakeReport> {
    if (now !== undefined && !isStoredDate(now)) {
      const message = 'must be a valid Date, in the years 1 to 9999';
      throw new InvalidOptionsError({ where: 'wake', problems: [{ path: 'now', message }] });
    }
    return this.#pass(now);
  }
}
