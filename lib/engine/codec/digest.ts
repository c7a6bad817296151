import { createHash } from 'node:crypto';
import { UndefinedIdError } from '../../errors/index.js';

/**
 * The SHA-256 of several parts, 32 bytes. The parts are joined as a JSON array, so that no two lists share a digest
 * (['ab', 'c'] and ['a', 'bc'], null and 'null', two different lone surrogates).
 *
 * @throws UndefinedIdError when a part is undefined: it would stand for another key than was meant
 */
export function digest(parts: readonly (string | null)[]): Buffer {
  const missing = parts.findIndex((part) => part === undefined);
  if (missing !== -1) throw new UndefinedIdError({ what: `Part ${missing + 1} of a key` });
  return createHash('sha256').update(JSON.stringify(parts), 'utf8').digest();
}
