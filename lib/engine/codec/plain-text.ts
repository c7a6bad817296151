import { cleanText } from './clean-text.js';

/** Keys, names of signals, and what a subject is made of stand in indexes: in UTF-16 units. */
export const MAX_KEY_LENGTH = 500;

/**
 * Whether a value is a text that is stored and compared as it was given: not blank, at most `max` UTF-16 units, without
 * U+0000 and halves of characters. Cutting or cleaning a key would make it another one.
 *
 * @example isPlainText('payment.received', 500) // true
 * @example isPlainText('a\0b', 500) // false
 */
export function isPlainText(value: unknown, max: number): value is string {
  return typeof value === 'string' && value.trim() !== '' && cleanText(value, max) === value;
}

/** How a subject has to look, after its name in a sentence. */
export const SUBJECT_RULE = `must be { type, id }, each a text of 1 to ${MAX_KEY_LENGTH} characters that is not blank, without U+0000; leave it out where there is none`;

/** What a run, an event, or a wait for one, may be about. Extra properties do no harm. */
export function isSubject(value: unknown): value is { readonly type: string; readonly id: string } {
  if (typeof value !== 'object' || value === null) return false;
  const { type, id } = value as { readonly type?: unknown; readonly id?: unknown };
  return isPlainText(type, MAX_KEY_LENGTH) && isPlainText(id, MAX_KEY_LENGTH);
}
