/**
 * So many pieces of work at once, and no more: the others wait for their turn, in the order in which they came. For work that anybody
 * may ask for at any rate, and that must not take every connection there is.
 */
export class Lanes {
  readonly #waiting: (() => void)[] = [];
  readonly #idle: (() => void)[] = [];
  #busy = 0;

  constructor(private readonly count: number) {}

  /** Rejects with what `work` rejects with. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#busy < this.count) this.#busy++;
    // Whoever ends hands its lane over.
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else if (--this.#busy === 0) for (const resolve of this.#idle.splice(0)) resolve();
    }
  }

  /** Resolves when nothing runs and nothing waits. */
  async idle(): Promise<void> {
    if (this.#busy > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }
}
