/** Steps whose failures the body was given, to tell later which of them a stage failed with. */
export class FailedSteps {
  readonly #keys = new Set<string>();
  readonly #byError = new WeakMap<object, string>();

  /** The body was given this error for this step. */
  add(key: string, error: unknown): void {
    this.#keys.add(key);
    if (typeof error === 'object' && error !== null) this.#byError.set(error, key);
  }

  /**
   * Steps that an error came from: it is theirs, or one of its causes or parts is. When that can't be told, all that failed:
   * a retry that ran none of them again would fail the same way.
   */
  blamedFor(error: unknown): string[] {
    const blamed = new Set<string>();
    const seen = new Set<unknown>();
    const look = (part: unknown): void => {
      if (typeof part !== 'object' || part === null || seen.has(part) || seen.size > MOST_PARTS) return;
      seen.add(part);
      const key = this.#byError.get(part);
      if (key !== undefined) blamed.add(key);
      try {
        look((part as Error).cause);
        const parts: unknown = (part as AggregateError).errors;
        if (Array.isArray(parts)) parts.forEach(look);
      } catch {
        // A getter that throws says nothing.
      }
    };
    look(error);
    return blamed.size > 0 ? [...blamed] : [...this.#keys];
  }
}

const MOST_PARTS = 100;
