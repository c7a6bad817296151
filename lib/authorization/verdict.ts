import { readSafely } from '../engine/codec/read-safely.js';

/** What an answer comes to. */
export type Verdict = { readonly allowed: true } | { readonly allowed: false; readonly reason?: string };

export const ALLOWED: Verdict = Object.freeze({ allowed: true });

/** The verdict that a settled answer is; undefined where it is none. Only `true` allows: nothing is taken for it. */
export function verdictOf(answer: unknown): Verdict | undefined {
  if (answer === true) return ALLOWED;
  if (answer === false) return { allowed: false };
  const allowed = readSafely(answer, 'allowed');
  if (allowed === true) return ALLOWED;
  if (allowed !== false) return undefined;
  const reason = readSafely(answer, 'reason');
  return typeof reason === 'string' && reason.trim() !== '' ? { allowed, reason } : { allowed };
}
