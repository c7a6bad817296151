declare const skipped: unique symbol;

/**
 * What `ctx.skip(reason)` returns. A stage that may return it yields `undefined` to its followers, and its type says so:
 * only a returned value, not a thrown one, shows in the type of `execute`.
 */
export interface Skipped {
  readonly [skipped]: true;
  readonly reason: string;
}
