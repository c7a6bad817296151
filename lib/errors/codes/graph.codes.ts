import type { ErrorCodeEntry } from './error-code-entry.js';

/** What may be wrong with a workflow that is written as data. */
export const GRAPH_CODES = {
  INVALID_EXPRESSION: {
    text: 'The expression `{expression}` is not valid[[ at {place}]]: {message}.',
    meaning:
      'An expression is no CEL, does not fit the types that are known, speaks of what is not there, or is too large.',
    retried: false,
    byHand: true,
  },
} as const satisfies Record<string, ErrorCodeEntry>;
