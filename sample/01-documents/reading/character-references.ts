const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  shy: '\u00ad',
  ndash: '–',
  mdash: '—',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  laquo: '«',
  raquo: '»',
  hellip: '…',
};

const REFERENCE = /&(?:#x([0-9a-f]{1,6})|#([0-9]{1,7})|([a-z][a-z0-9]{1,10}));/gi;

/** No reference that {@link decodeCharacterReferences} knows is longer, so no more than this is held back. */
export const LONGEST_REFERENCE = 13;

/**
 * Replaces numeric references and the common named ones. A name it does not know stays as it stands, as a browser
 * leaves it; a number that is no character becomes U+FFFD.
 *
 * @example decodeCharacterReferences('R&#x26;D &lt;3') // 'R&D <3'
 */
export function decodeCharacterReferences(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(REFERENCE, (whole, hex?: string, decimal?: string, name?: string) => {
    if (name !== undefined) return Object.hasOwn(NAMED, name) ? NAMED[name]! : whole;
    return characterOf(hex !== undefined ? Number.parseInt(hex, 16) : Number(decimal));
  });
}

function characterOf(codePoint: number): string {
  const isSurrogate = codePoint >= 0xd800 && codePoint <= 0xdfff;
  return codePoint === 0 || codePoint > 0x10ffff || isSurrogate ? '\ufffd' : String.fromCodePoint(codePoint);
}
