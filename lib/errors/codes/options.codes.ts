import type { ErrorCodeEntry } from './error-code-entry.js';

export const OPTIONS_CODES = {
  INVALID_OPTIONS: {
    text: '{where} got options that are not valid:{problems}\nCorrect each of them; nothing was done.',
    meaning: 'An option of the module, a decorator or a call is unknown, missing or has a wrong value.',
    retried: false,
    byHand: false,
  },
  DATA_SOURCE_NOT_FOUND: {
    text: 'WorkflowModule found no TypeORM DataSource[[ named "{dataSource}"]][[ (there are: {known})]]. Import TypeOrmModule.forRoot(…) in the app, or name the right one in the option `dataSource`.',
    meaning: 'The app has no TypeORM DataSource of the name that the module was told.',
    retried: false,
    byHand: false,
  },
  INVALID_DURATION: {
    text: "{what} is not a duration: {value}[[ ({reason})]]. Write milliseconds (5000), a number with a unit ('30s', '5m', '2 h', '7 days', '1 week') or ISO 8601 ('PT5M', 'P1DT2H').",
    meaning: 'A duration is negative, not finite, without a known unit or too long.',
    retried: false,
    byHand: true,
  },
} as const satisfies Record<string, ErrorCodeEntry>;
