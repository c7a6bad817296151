/** How long a notice of a cancelled run is remembered. */
const REMEMBER_MS = 10_000;

/**
 * Runs that were said to be over, for some seconds: such a notice can overtake the answer of the claim that took a stage of
 * the run, and would find nothing to abort. A hint only, so what it says is checked before it is acted upon.
 */
export class CancelledRuns {
  readonly #until = new Map<string, number>();

  constructor(private readonly now: () => number = () => performance.now()) {}

  add(runIds: Iterable<string>): void {
    const now = this.now();
    // Insertion order is order of time: what is over stands at the front.
    for (const [runId, until] of this.#until) {
      if (until > now) break;
      this.#until.delete(runId);
    }
    for (const runId of runIds) {
      this.#until.delete(runId);
      this.#until.set(runId, now + REMEMBER_MS);
    }
  }

  has(runId: string): boolean {
    if (this.#until.size === 0) return false;
    const until = this.#until.get(runId);
    return until !== undefined && until > this.now();
  }
}
