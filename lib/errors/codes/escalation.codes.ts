import type { ErrorCodeEntry } from './error-code-entry.js';

/** Escalations: each fails for itself, and neither its node nor the run. */
export const ESCALATION_CODES = {
  NO_RECIPIENTS: {
    text: 'Escalation {escalation} has nobody to turn to: `to` gave an empty list. Nobody was told or asked; name somebody who can be.',
    meaning: 'The people that an escalation was to tell could not be found: there are none.',
    retried: false,
    byHand: false,
  },
  ROUND_NOT_OPENED: {
    text: 'Escalation {escalation} was to have more people asked by {node}, which has not asked anybody yet.',
    meaning:
      'An approval took long before it had found out whom to ask: see why its stage has not, for example what its resolver throws.',
    retried: true,
    byHand: false,
  },
} as const satisfies Record<string, ErrorCodeEntry>;
