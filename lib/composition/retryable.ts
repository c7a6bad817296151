/**
 * A step of starting up that is done once: callers share the one that is under way or done, and one that failed is tried
 * anew by the next caller (faults C17, G7).
 */
export class Retryable<T> {
  #attempt: Promise<T> | undefined;

  constructor(private readonly work: () => Promise<T>) {}

  /** Whether it was begun and has not failed. */
  get begun(): boolean {
    return this.#attempt !== undefined;
  }

  get(): Promise<T> {
    if (!this.#attempt) {
      const attempt = this.work();
      this.#attempt = attempt;
      attempt.catch(() => {
        if (this.#attempt === attempt) this.#attempt = undefined;
      });
    }
    return this.#attempt;
  }

  /** What it came to, if it was begun; undefined when it failed or never was. */
  async settled(): Promise<T | undefined> {
    return this.#attempt?.catch(() => undefined);
  }
}
