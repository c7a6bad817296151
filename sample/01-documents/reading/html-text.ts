import { Parser } from 'htmlparser2';
import { LineWriter } from './line-writer.js';

/** What is inside these is not text that a reader sees. */
const UNSEEN = new Set(['head', 'script', 'style', 'template', 'noscript']);

/** These stand inside a line; any other element begins a new one. */
const INLINE = new Set(
  'a abbr b bdi bdo cite code data del dfn em i ins kbd mark q s samp small span strong sub sup time u var wbr'.split(
    ' ',
  ),
);

/**
 * Takes the text out of HTML, piece by piece: one line a block element, white space collapsed, character references
 * decoded, and comments, scripts, styles and the head left out. It keeps no tree: what is held of a document is the
 * piece at hand, the names of the elements that are open, and a tag or comment that has not ended yet.
 */
export class HtmlText {
  private readonly lines = new LineWriter();
  private unseen = 0;
  private readonly parser = new Parser({
    onopentagname: (name) => {
      if (!INLINE.has(name)) this.lines.breakLine();
      if (UNSEEN.has(name)) this.unseen += 1;
    },
    onclosetag: (name) => {
      if (!INLINE.has(name)) this.lines.breakLine();
      if (UNSEEN.has(name)) this.unseen -= 1;
    },
    ontext: (text) => {
      if (this.unseen === 0) this.lines.text(text);
    },
  });

  /** Takes the next piece of HTML, cut anywhere, and returns the text that is certain by now. */
  write(html: string): string {
    this.parser.write(html);
    return this.lines.take();
  }

  /** Takes the end of the document and returns the rest of the text. */
  end(): string {
    this.parser.end();
    return this.lines.take();
  }
}
