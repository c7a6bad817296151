import type { ErrorCodeEntry } from './error-code-entry.js';

/** Escalations: each fails for itself, and neither its node nor the run. */
export const ESCALATION_CODES = {
  NO_RECIPIENTS: {
    text: 'Escalation {escalation} was to tell people, and `to` gave an empty list. Nobody was told; name somebody who can be.',
    meaning: 'The people that an escalation was to tell could not be found: there are none.',
    retried: false,
    byHand: false,
  },
  ACTION_UNAVAILABLE: {
    text: 'Escalation {escalation} has the action "{action}", which this version of the engine does not do yet. Notify somebody, or take an edge, instead.',
    meaning: 'A graph names an action of an escalation that is a part of the format, and that nothing does yet.',
    retried: false,
    byHand: false,
  },
} as const satisfies Record<string, ErrorCodeEntry>;
