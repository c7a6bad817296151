import { InvalidDurationError } from '../../errors/index.js';

/** The longest delay that a JavaScript timer takes (24.8 days); a longer one fires at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * How long to set a timer for when `remainingMs` are left: whoever sets it asks again when it fires, from the stored
 * instant, until nothing is left. What is due in the past is due now: 0.
 *
 * @throws InvalidDurationError for NaN, with which a timer would fire for ever without a pause
 */
export function nextTimerMs(remainingMs: number): number {
  if (Number.isNaN(remainingMs))
    throw new InvalidDurationError({ what: 'The remaining time of a timer', value: 'NaN' });
  return Math.min(Math.max(0, Math.ceil(remainingMs)), MAX_TIMER_MS);
}
