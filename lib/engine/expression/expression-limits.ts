/** What a condition may be, and may cost. The text is a developer's or a definition's; the payload is anybody's. */
export const EXPRESSION_LIMITS = Object.freeze({
  /** Characters of the text. */
  maxLength: 2_000,
  /** Operators, names and values in it. */
  maxNodes: 500,
  /** Levels of brackets, calls and fields inside each other. */
  maxDepth: 50,
  /** Characters of the text given to `duration`, whose parser takes cubic time. */
  maxDurationLength: 40,
  /** Steps of one evaluation, estimated from the payload before it begins: a few tenths of a second. */
  maxSteps: 5_000_000,
});
