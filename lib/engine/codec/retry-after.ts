import { parseDurationMs } from '../time/index.js';
import { readSafely } from './read-safely.js';

/** An error may ask for a pause of at most a year; more is taken as a year. */
export const MAX_RETRY_AFTER_MS = 365 * 86_400_000;

/**
 * The pause in milliseconds that an error asks for with `retryAfterMs` or `retryAfter`: a number is milliseconds, a text
 * is a duration with its unit, a Date an instant (in the past: no pause). What is none of them is as if nothing was said:
 * an error must not fail a second time for how it was thrown.
 *
 * @param now the present instant in milliseconds; without it a Date says nothing
 */
export function retryAfterMs(error: unknown, now: number | undefined): number | undefined {
  return pauseOf(readSafely(error, 'retryAfterMs'), now) ?? pauseOf(readSafely(error, 'retryAfter'), now);
}

function pauseOf(value: unknown, now: number | undefined): number | undefined {
  if (typeof value === 'number' && value > MAX_RETRY_AFTER_MS) return MAX_RETRY_AFTER_MS;
  if (typeof value === 'number' || typeof value === 'string') return durationOf(value);
  const at = instantOf(value);
  if (at === undefined || now === undefined) return undefined;
  return Math.min(Math.max(0, Math.ceil(at - now)), MAX_RETRY_AFTER_MS);
}

function durationOf(value: number | string): number | undefined {
  try {
    return Math.min(parseDurationMs(value, 'retryAfter'), MAX_RETRY_AFTER_MS);
  } catch {
    return undefined;
  }
}

function instantOf(value: unknown): number | undefined {
  try {
    // Called on whatever it is: a Date of another realm is one, and anything else throws.
    const at = Date.prototype.getTime.call(value);
    return Number.isNaN(at) ? undefined : at;
  } catch {
    return undefined;
  }
}
