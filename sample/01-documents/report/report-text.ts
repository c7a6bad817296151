import { scriptName } from '../analysis/scripts.js';
import type { DocumentReport } from './document-report.js';
import type { FailureRow, ScriptRow, Summary } from './summary.js';
import { renderTable, type Column } from './table.js';

const SCRIPT_COLUMNS: ReadonlyArray<Column<ScriptRow>> = [
  { title: 'Script', value: (row) => scriptName(row.script) },
  { title: 'Documents', align: 'right', value: (row) => row.documents },
  { title: 'As declared', align: 'right', value: (row) => outOf(row.scriptAgreed, row.scriptDeclared) },
  { title: 'Language recognised', align: 'right', value: (row) => outOf(row.languageAgreed, row.languageKnown) },
  { title: 'Words', align: 'right', value: (row) => row.words },
];

const DISAGREEMENT_COLUMNS: ReadonlyArray<Column<DocumentReport>> = [
  { title: 'Taken for another', value: ({ document }) => document.name },
  { title: 'Declared', value: ({ document }) => document.declaredLanguage },
  { title: 'Detected', value: ({ language }) => language.detected || 'none' },
  { title: 'Score', align: 'right', value: ({ language }) => language.score.toFixed(2) },
];

const FAILURE_COLUMNS: ReadonlyArray<Column<FailureRow>> = [
  { title: 'Failure', value: (row) => row.code },
  { title: 'Documents', align: 'right', value: (row) => row.documentIds.length },
  { title: 'For instance', value: (row) => row.documentIds[0] ?? '' },
  { title: 'Message', value: (row) => shorten(row.message, 90) },
];

const documentColumns = (title: string): ReadonlyArray<Column<DocumentReport>> => [
  { title, value: ({ document }) => document.name },
  { title: 'Work', align: 'right', value: ({ workMs }) => `${Math.round(workMs).toLocaleString('en')} ms` },
  { title: 'Words', align: 'right', value: ({ statistics }) => statistics.words },
  { title: 'Minutes', align: 'right', value: ({ statistics }) => statistics.readingMinutes },
  { title: 'Bytes read', align: 'right', value: ({ reading }) => outOf(reading.bytesRead, reading.bytes) },
  { title: 'Keywords', value: ({ statistics }) => keywordsOf(statistics.keywords) },
];

/** What the terminal shows at the end: one table a question, and only for questions that have an answer. */
export function renderReport(summary: Summary): string {
  const table = <Row>(columns: ReadonlyArray<Column<Row>>, rows: readonly Row[]): string[] =>
    rows.length === 0 ? [] : [renderTable(columns, rows)];
  return [
    headline(summary),
    ...table(SCRIPT_COLUMNS, summary.scripts),
    ...table(DISAGREEMENT_COLUMNS, summary.disagreements),
    ...table(documentColumns('Slowest'), summary.slowest),
    ...table(documentColumns('Longest'), summary.longest),
    ...table(FAILURE_COLUMNS, summary.failures),
  ].join('\n\n');
}

function headline(summary: Summary): string {
  const parts = [`${summary.completed} of ${summary.documents} documents analysed`];
  for (const status of ['failed', 'cancelled', 'unfinished'] as const) {
    if (summary[status] > 0) parts.push(`${summary[status]} ${status}`);
  }
  if (summary.retries > 0) parts.push(`${summary.retries} ${summary.retries === 1 ? 'attempt' : 'attempts'} retried`);
  const language = `language recognised in ${share(summary.languageAgreed, summary.languageKnown)} that the detector knows`;
  const script = `script as declared in ${share(summary.scriptAgreed, summary.scriptDeclared)}`;
  return `${parts.join(', ')}.\n${capitalise(language)}; ${script}.`;
}

function share(part: number, whole: number): string {
  const percent = whole === 0 ? '' : ` (${((100 * part) / whole).toFixed(1)} %)`;
  return `${part} of ${whole}${percent}`;
}

function outOf(part: number, whole: number): string {
  if (whole === 0) return '–';
  return part === whole ? whole.toLocaleString('en') : `${part.toLocaleString('en')} of ${whole.toLocaleString('en')}`;
}

function keywordsOf(keywords: ReadonlyArray<{ word: string }>): string {
  return shorten(
    keywords
      .slice(0, 5)
      .map(({ word }) => word)
      .join(', '),
    50,
  );
}

function shorten(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1).trimEnd()}…` : text;
}

function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
