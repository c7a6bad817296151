import { cleanText } from '../codec/index.js';
import type { TriggerNote } from '../ports/index.js';

const LONGEST_ERROR = 1_000;

/**
 * What a trigger did, as every store takes it: why it started none may quote what it received, U+0000 too, and a note that cannot be
 * written would have it tried again for ever.
 */
export const triggerNote = ({ error = null, ...given }: Partial<TriggerNote>): TriggerNote => ({
  ...{ runId: null, outcome: null, started: 0, passedOver: 0 },
  ...given,
  error: error === null ? null : cleanText(error, LONGEST_ERROR),
});
