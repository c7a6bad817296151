import { nextTimerMs } from '../../engine/time/index.js';

/**
 * The pauses of one service, all of which end at once when it does: a service that waits for the database to come back
 * must not hold up a shutdown.
 */
export class Pauses {
  readonly #sleepers = new Set<() => void>();
  #over = false;

  /** Whether the service was told to give up. */
  get over(): boolean {
    return this.#over;
  }

  /** Waits `ms` at most (24.8 days); at once when the service is over. */
  sleep(ms: number): Promise<void> {
    if (this.#over) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.#sleepers.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, nextTimerMs(ms));
      this.#sleepers.add(wake);
    });
  }

  end(): void {
    this.#over = true;
    for (const wake of this.#sleepers) wake();
  }

  /** For a service that is started again. */
  reopen(): void {
    this.#over = false;
  }
}
