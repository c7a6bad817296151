declare const outcome: unique symbol;

/** What `ctx.outcome(name, output)` returns. Must be returned from `execute`; followers see the output. */
export interface Outcome {
  readonly [outcome]: true;
}
