import type { Attempt } from '../execution/attempt.js';

/** What this process holds: every attempt from its claim until its outcome is written, handed back or dropped. */
export class LiveAttempts {
  readonly #attempts = new Set<Attempt>();

  /** Told of the first attempt and of the last one's end, so that heartbeats run only while there is something to hold. */
  onChange: ((holding: boolean) => void) | undefined;

  get size(): number {
    return this.#attempts.size;
  }

  add(attempt: Attempt): void {
    this.#attempts.add(attempt);
    if (this.#attempts.size === 1) this.onChange?.(true);
  }

  delete(attempt: Attempt): void {
    if (this.#attempts.delete(attempt) && this.#attempts.size === 0) this.onChange?.(false);
  }

  all(): Attempt[] {
    return [...this.#attempts];
  }

  ofRuns(runIds: ReadonlySet<string>): Attempt[] {
    return this.all().filter((attempt) => runIds.has(attempt.lease.runId));
  }
}
