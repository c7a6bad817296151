import { decodeCharacterReferences, LONGEST_REFERENCE } from './character-references.js';
import { LineWriter } from './line-writer.js';

/** What is inside these is not text that a reader sees: each with what ends it. */
const UNSEEN: ReadonlyMap<string, RegExp> = new Map(
  ['head', 'script', 'style', 'template', 'noscript'].map((name) => [name, new RegExp(`</${name}(?=[\\s/>])`, 'gi')]),
);
const COMMENT_END = /-->/g;

/** No end above is longer, so when dropping, no more than this is held back. */
const LONGEST_END = '</noscript>'.length;

/** These stand inside a line; any other element begins a new one. */
const INLINE = new Set(
  'a abbr b bdi bdo cite code data del dfn em i ins kbd mark q s samp small span strong sub sup time u var wbr'.split(
    ' ',
  ),
);

/** A tag that has not ended after so many characters is no tag: its `<` is taken for a character of the text. */
const LONGEST_TAG = 65_536;

const TAG_NAME = /^<\/?([a-z][a-z0-9-]*)/i;

/**
 * Takes the text out of HTML, piece by piece, in bounded memory: one line a block element, white space collapsed,
 * character references decoded, and scripts, styles and the head left out. It keeps no tree, so a document may be
 * larger than memory; for markup that needs one (tables, hidden elements) use a real parser.
 */
export class HtmlText {
  private readonly lines = new LineWriter();
  private pending = '';
  /** Set while everything up to its first match is to be dropped: a comment, a script. */
  private skippingTo: RegExp | undefined;

  /** Takes the next piece of HTML, cut anywhere, and returns the text that is certain by now. */
  write(html: string): string {
    this.pending += html;
    this.consume(false);
    return this.lines.take();
  }

  /** Takes the end of the document and returns the rest of the text. */
  end(): string {
    this.consume(true);
    return this.lines.take();
  }

  private consume(atEnd: boolean): void {
    let position = 0;
    const html = this.pending;
    while (position < html.length) {
      const next = this.skippingTo === undefined ? this.step(html, position, atEnd) : this.skip(html, position);
      if (next === position) break;
      position = next;
    }
    this.pending = atEnd ? '' : html.slice(position);
  }

  /** Handles one run of text or one piece of markup and returns where it ended, or `start` to wait for more. */
  private step(html: string, start: number, atEnd: boolean): number {
    if (html[start] !== '<') return this.text(html, start, atEnd);
    // Four characters tell a comment from everything else.
    if (html.length - start < 4 && !atEnd) return start;
    if (html.startsWith('<!--', start)) {
      this.skippingTo = COMMENT_END;
      return start + 4;
    }
    if (!/[a-z/!?]/i.test(html[start + 1] ?? '')) return this.literal(start);
    const end = endOfTag(html, start);
    if (end === -1) return html.length - start > LONGEST_TAG || atEnd ? this.literal(start) : start;
    this.tag(html.slice(start, end));
    return end;
  }

  private text(html: string, start: number, atEnd: boolean): number {
    const lessThan = html.indexOf('<', start);
    let end = lessThan === -1 ? html.length : lessThan;
    if (lessThan === -1 && !atEnd) {
      // A reference may be cut in two: `&am` now, `p;` with the next piece.
      const ampersand = html.lastIndexOf('&');
      if (ampersand >= start && html.length - ampersand < LONGEST_REFERENCE) end = ampersand;
    }
    this.lines.text(decodeCharacterReferences(html.slice(start, end)));
    return end;
  }

  private literal(start: number): number {
    this.lines.text('<');
    return start + 1;
  }

  private tag(tag: string): void {
    const name = TAG_NAME.exec(tag)?.[1]?.toLowerCase();
    if (name === undefined || INLINE.has(name)) return;
    this.lines.breakLine();
    if (!tag.startsWith('</')) this.skippingTo = UNSEEN.get(name);
  }

  private skip(html: string, start: number): number {
    const target = this.skippingTo!;
    target.lastIndex = start;
    const found = target.exec(html);
    // All but a beginning of the target can go: a comment may be of any length.
    if (!found) return Math.max(start, html.length - LONGEST_END + 1);
    this.skippingTo = undefined;
    return target === COMMENT_END ? target.lastIndex : found.index;
  }
}

/** Where the tag ends, one past its `>`; a `>` inside a quoted attribute does not end it. -1 when it has not ended. */
function endOfTag(html: string, start: number): number {
  const limit = Math.min(html.length, start + LONGEST_TAG + 1);
  let quote = '';
  let previous = '';
  for (let i = start + 1; i < limit; i += 1) {
    const character = html[i]!;
    if (quote) {
      if (character === quote) quote = '';
    } else if (character === '>') return i + 1;
    else if (previous === '=' && (character === '"' || character === "'")) quote = character;
    if (!/\s/.test(character)) previous = character;
  }
  return -1;
}
