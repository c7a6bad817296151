import type { DocumentOutcome, DocumentReport } from '../../../sample/01-documents/report/document-report.js';
import { renderReport } from '../../../sample/01-documents/report/report-text.js';
import { summarise } from '../../../sample/01-documents/report/summary.js';
import { displayWidth, renderTable } from '../../../sample/01-documents/report/table.js';

interface Differences {
  expected?: string | null;
  detected?: string;
  script?: string;
  expectedScript?: string | null;
  words?: number;
  workMs?: number;
}

function reportOf(id: string, differences: Differences = {}): DocumentReport {
  const {
    expected = 'en',
    detected = 'en',
    script = 'Latn',
    expectedScript = 'Latn',
    words = 100,
    workMs = 10,
  } = differences;
  return {
    document: { id, kind: 'declaration', name: id.toUpperCase(), path: `/${id}.html`, declaredLanguage: 'en' },
    reading: { textPath: `/${id}.txt`, bytes: 1_000, bytesRead: 1_000, textLength: 900, truncated: false },
    language: { detected, score: 0.5, reliable: true, expected },
    script: { script, share: 1, letters: 800, expected: expectedScript },
    statistics: { words, sentences: 5, vocabulary: 50, wordsPerSentence: 20, readingMinutes: 0.5, keywords: [] },
    workMs,
  };
}
const completed = (id: string, differences?: Differences, retries = 0): DocumentOutcome => ({
  status: 'COMPLETED',
  report: reportOf(id, differences),
  retries,
});

describe('summarise', () => {
  const outcomes: DocumentOutcome[] = [
    completed('a', { words: 300 }),
    completed('b', { detected: 'fr', workMs: 90 }, 2),
    completed('c', { expected: null, expectedScript: null }),
    completed('d', { script: 'Cyrl', expected: 'ru', detected: 'ru' }),
    { status: 'FAILED', documentId: 'e', retries: 0, code: 'NOT_UTF8', message: 'not UTF-8' },
    { status: 'FAILED', documentId: 'f', retries: 1, code: 'NOT_UTF8', message: 'nor this' },
    { status: 'CANCELLED', documentId: 'g', retries: 0 },
    { status: 'UNFINISHED', documentId: 'h', retries: 0 },
  ];
  const summary = summarise(outcomes, 2);

  it('counts how runs ended and how often they were retried', () => {
    expect(summary).toMatchObject({ documents: 8, completed: 4, failed: 2, cancelled: 1, unfinished: 1, retries: 3 });
  });

  it('holds detected against declared languages, leaving out those that the detector does not know', () => {
    expect(summary).toMatchObject({ languageKnown: 3, languageAgreed: 2 });
    expect(summary.disagreements.map(({ document }) => document.id)).toEqual(['b']);
  });

  it('shows the agreement per script, most documents first', () => {
    expect(summary.scripts).toEqual([
      {
        script: 'Latn',
        documents: 3,
        scriptDeclared: 2,
        scriptAgreed: 2,
        languageKnown: 2,
        languageAgreed: 1,
        words: 500,
      },
      {
        script: 'Cyrl',
        documents: 1,
        scriptDeclared: 1,
        scriptAgreed: 0,
        languageKnown: 1,
        languageAgreed: 1,
        words: 100,
      },
    ]);
  });

  it('gathers failures by code', () => {
    expect(summary.failures).toEqual([{ code: 'NOT_UTF8', documentIds: ['e', 'f'], message: 'not UTF-8' }]);
  });

  it('names the slowest and the longest', () => {
    expect(summary.slowest[0]?.document.id).toBe('b');
    expect(summary.longest[0]?.document.id).toBe('a');
    expect(summary.longest).toHaveLength(2);
  });

  it('is written as tables, each only where it has rows', () => {
    const text = renderReport(summary);
    expect(text).toContain('4 of 8 documents analysed, 2 failed, 1 cancelled, 1 unfinished, 3 attempts retried.');
    expect(text).toContain('Language recognised in 2 of 3 (66.7 %) that the detector knows');
    expect(text).toMatch(/^Cyrillic +1 +0 of 1 +1 +100$/m);
    expect(text).toMatch(/^NOT_UTF8 +2 +e +not UTF-8$/m);
    expect(renderReport(summarise([completed('a')]))).not.toContain('Failure');
  });

  it('can be written when there is nothing at all', () => {
    expect(renderReport(summarise([]))).toContain('0 of 0 documents analysed.');
  });
});

describe('renderTable', () => {
  it('aligns by what a terminal shows, wide and combining characters too', () => {
    expect(displayWidth('日本e\u0301')).toBe(5);
    const rows = [
      { name: '日本', size: 1_234 },
      { name: 'e\u0301te', size: 5 },
    ];
    const table = renderTable(
      [
        { title: 'Name', value: (row: (typeof rows)[0]) => row.name },
        { title: 'Size', align: 'right', value: (row) => row.size },
      ],
      rows,
    );
    expect(table.split('\n')).toEqual(['Name   Size', '────  ─────', '日本  1,234', 'e\u0301te       5']);
  });

  it('keeps a cell in its line', () => {
    expect(renderTable([{ title: 'T', value: (row: string) => row }], ['a\nb'])).toBe('T\n───\na b');
  });
});
