// U+0000 is refused by PostgreSQL's text, a lone surrogate can't be written as UTF-8.
const UNSTORABLE = /\0|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/**
 * A text that every text column takes: at most `max` UTF-16 units (the last one an ellipsis when it was cut), U+0000 and
 * lone surrogates replaced by U+FFFD. Its cost depends on `max`, not on the text's length.
 *
 * @example cleanText('a\0b', 100) // 'a\ufffdb'
 */
export function cleanText(text: string, max: number): string {
  if (text.length <= max) return text.replace(UNSTORABLE, '\ufffd');
  const cut = text.slice(0, Math.max(0, max - 1));
  // A pair that the cut went through would leave half a character.
  const whole = /[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut;
  return copyOf(whole.replace(UNSTORABLE, '\ufffd')) + '…';
}

/** A slice keeps the whole text it was cut from alive: 50 MB for as long as the thousand letters are kept. */
function copyOf(slice: string): string {
  return Buffer.from(slice, 'utf8').toString('utf8');
}
