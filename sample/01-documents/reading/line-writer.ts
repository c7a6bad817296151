/** White space of HTML. A no-break space is not among it: its writer meant it. */
const WHITE_SPACE = /[ \t\r\n\f]+/g;

/** Collects text as lines without empty ones, without white space at their ends, and with single spaces inside. */
export class LineWriter {
  private out = '';
  private separator: '' | ' ' | '\n' = '';
  private begun = false;

  text(text: string): void {
    const collapsed = text.replace(WHITE_SPACE, ' ');
    const words = collapsed.replace(/^ | $/g, '');
    if (collapsed.startsWith(' ')) this.space();
    if (words === '') return;
    if (this.begun) this.out += this.separator;
    this.out += words;
    this.begun = true;
    this.separator = collapsed.endsWith(' ') ? ' ' : '';
  }

  breakLine(): void {
    this.separator = '\n';
  }

  /** What was written since the last call. */
  take(): string {
    const taken = this.out;
    this.out = '';
    return taken;
  }

  private space(): void {
    if (this.separator === '') this.separator = ' ';
  }
}
