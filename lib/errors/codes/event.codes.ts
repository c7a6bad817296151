import type { ErrorCodeEntry } from './error-code-entry.js';

/** Events and the conditions on them. */
export const EVENT_CODES = {
  INVALID_WHERE: {
    text: 'The condition `{where}` is not valid[[ at {place}]]: {message}. Write a CEL expression on `event`, the payload, that gives true or false: event.amount > 1000 && event.currency == "EUR".',
    meaning: 'A `where` is no CEL expression, does not give true or false, or is too large.',
    retried: false,
    byHand: true,
  },
  INVALID_EVENT: {
    text: '{what} is not valid:{issues}\nNothing was stored or sent.',
    meaning:
      'An event or signal has a bad key, subject or message id, or a payload that JSON cannot hold or that is over `limits.maxOutputBytes`.',
    retried: false,
    byHand: true,
  },
} as const satisfies Record<string, ErrorCodeEntry>;
