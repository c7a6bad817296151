import { cleanText } from '../../engine/codec/index.js';
import { InvalidOptionsError } from '../../errors/index.js';

/** Longer reasons are cut: the reason is shown in lists and told in events. */
export const LONGEST_REASON = 1_000;

/** The reason of a call as it is kept and told. @throws InvalidOptionsError for one that is no text */
export function reasonOf(reason: unknown, where: string): string | null {
  if (reason === undefined || reason === null) return null;
  if (typeof reason === 'string') return cleanText(reason, LONGEST_REASON);
  const problems = [{ path: 'reason', message: `must be a text, and is of type ${typeof reason}` }];
  throw new InvalidOptionsError({ where, problems });
}
