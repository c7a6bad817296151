export interface Column<Row> {
  readonly title: string;
  readonly align?: 'left' | 'right';
  readonly value: (row: Row) => string | number;
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
const WIDE = /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff01-\uff60]/u;

/** The columns a terminal gives a text: one a visible character, two for East Asian ones. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += WIDE.test(segment) ? 2 : 1;
  return width;
}

/** A plain table: titles, a rule, a line a row; numbers to the right, and no space at the ends of lines. */
export function renderTable<Row>(columns: ReadonlyArray<Column<Row>>, rows: readonly Row[]): string {
  const cells = rows.map((row) => columns.map((column) => formatCell(column.value(row))));
  const widths = columns.map((column, i) =>
    Math.max(displayWidth(column.title), ...cells.map((line) => displayWidth(line[i]!))),
  );
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, i) => pad(text, widths[i]!, columns[i]!.align ?? 'left'))
      .join('  ')
      .trimEnd();
  const rule = widths.map((width) => '─'.repeat(width)).join('  ');
  return [line(columns.map((column) => column.title)), rule, ...cells.map(line)].join('\n');
}

/** @example formatCell(10639) // '10,639' */
export function formatCell(value: string | number): string {
  return typeof value === 'number' ? value.toLocaleString('en') : value.replace(/\s+/g, ' ');
}

function pad(text: string, width: number, align: 'left' | 'right'): string {
  const space = ' '.repeat(Math.max(0, width - displayWidth(text)));
  return align === 'left' ? text + space : space + text;
}
