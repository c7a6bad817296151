/** Longest id, key or queue name: database columns and indexes carry them on every row. */
export const MAX_IDENTIFIER_LENGTH = 100;

/** The rule but for the length. `@` and `#` join the parts of a definition key; blanks and quotes are what people mistype. */
export const IDENTIFIER = /^[\p{L}\p{N}](?:[\p{L}\p{N}_.:-]*[\p{L}\p{N}_])?$/u;

/** What an id, key or queue name may look like, as the end of a sentence. */
export const IDENTIFIER_RULE =
  `up to ${MAX_IDENTIFIER_LENGTH} letters, digits, "_", ".", ":" and "-", ` +
  'beginning and ending with a letter or digit';

export function isIdentifier(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_IDENTIFIER_LENGTH && IDENTIFIER.test(value);
}

/** Two names with the same fold are taken for one: nobody tells "Review" from " review" in a log (fault E12). */
export function foldIdentifier(value: string): string {
  return value.normalize('NFKC').trim().toLowerCase();
}
