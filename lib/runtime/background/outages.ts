import { errorLine, type RuntimeLog } from './runtime-log.js';

/** Pause after the first failure of the database, and the longest one. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

/**
 * What the process knows of a database that does not answer: who is waiting for it, and since when.
 *
 * An outage is logged once when the first service meets it and once when the last one is through again, however many
 * services try however often. It begins anew only after it was over.
 */
export class Outages {
  readonly #failures = new Map<string, number>();
  #since = 0;

  constructor(
    private readonly log: RuntimeLog,
    private readonly random: () => number = Math.random,
    private readonly now: () => number = Date.now,
  ) {}

  /** Notes that `service` failed for now. Returns how long it should wait before it tries again, in milliseconds. */
  failed(service: string, error: unknown): number {
    if (this.#failures.size === 0) {
      this.#since = this.now();
      this.log.warn(`The database does not answer (${service}): ${errorLine(error)}. Trying again until it does.`);
    }
    const failures = this.#failures.get(service) ?? 0;
    this.#failures.set(service, failures + 1);
    // Half of it is jitter: all processes meet an outage at once and should not come back at once.
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(failures, 10), LONGEST_PAUSE_MS);
    return pause / 2 + (pause / 2) * this.random();
  }

  /** Notes that `service` got an answer. Costs nothing while all is well. */
  recovered(service: string): void {
    if (this.#failures.size === 0 || !this.#failures.delete(service) || this.#failures.size > 0) return;
    this.log.log(`The database answers again, after ${Math.round((this.now() - this.#since) / 100) / 10} s.`);
  }
}
