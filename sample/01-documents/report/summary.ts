import type { DocumentOutcome, DocumentReport } from './document-report.js';

export interface ScriptRow {
  /** ISO 15924 code that was detected. */
  readonly script: string;
  readonly documents: number;
  /** Documents whose declared language is written in some known script, and those where it is the detected one. */
  readonly scriptDeclared: number;
  readonly scriptAgreed: number;
  /** Documents whose declared language the detector knows, and those it recognised. */
  readonly languageKnown: number;
  readonly languageAgreed: number;
  readonly words: number;
}

export interface FailureRow {
  readonly code: string;
  readonly documentIds: readonly string[];
  /** The first document's message. */
  readonly message: string;
}

export interface Summary {
  readonly documents: number;
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly unfinished: number;
  /** Attempts beyond the first, over all documents. */
  readonly retries: number;
  readonly languageKnown: number;
  readonly languageAgreed: number;
  readonly scriptDeclared: number;
  readonly scriptAgreed: number;
  readonly scripts: readonly ScriptRow[];
  /** Known languages that were taken for others. */
  readonly disagreements: readonly DocumentReport[];
  readonly failures: readonly FailureRow[];
  readonly slowest: readonly DocumentReport[];
  readonly longest: readonly DocumentReport[];
}

/** @param top how many documents to list as slowest and as longest */
export function summarise(outcomes: readonly DocumentOutcome[], top = 5): Summary {
  const reports = outcomes.flatMap((outcome) => (outcome.status === 'COMPLETED' ? [outcome.report] : []));
  const scripts = scriptRows(reports);
  const total = (column: 'languageKnown' | 'languageAgreed' | 'scriptDeclared' | 'scriptAgreed'): number =>
    scripts.reduce((sum, row) => sum + row[column], 0);
  const count = (status: DocumentOutcome['status']): number =>
    outcomes.filter((outcome) => outcome.status === status).length;
  return {
    documents: outcomes.length,
    completed: reports.length,
    failed: count('FAILED'),
    cancelled: count('CANCELLED'),
    unfinished: count('UNFINISHED'),
    retries: outcomes.reduce((sum, outcome) => sum + outcome.retries, 0),
    languageKnown: total('languageKnown'),
    languageAgreed: total('languageAgreed'),
    scriptDeclared: total('scriptDeclared'),
    scriptAgreed: total('scriptAgreed'),
    scripts,
    disagreements: reports.filter((report) => isKnown(report) && !isRecognised(report)),
    failures: failureRows(outcomes),
    slowest: highest(reports, top, (report) => report.workMs),
    longest: highest(reports, top, (report) => report.statistics.words),
  };
}

function scriptRows(reports: readonly DocumentReport[]): ScriptRow[] {
  const groups = groupBy(reports, (report) => report.script.script);
  return [...groups]
    .map(([script, members]) => ({
      script,
      documents: members.length,
      scriptDeclared: members.filter((report) => report.script.expected !== null).length,
      scriptAgreed: members.filter((report) => report.script.expected === script).length,
      languageKnown: members.filter(isKnown).length,
      languageAgreed: members.filter(isRecognised).length,
      words: members.reduce((sum, report) => sum + report.statistics.words, 0),
    }))
    .sort((a, b) => b.documents - a.documents || (a.script < b.script ? -1 : 1));
}

function failureRows(outcomes: readonly DocumentOutcome[]): FailureRow[] {
  const failed = outcomes.flatMap((outcome) => (outcome.status === 'FAILED' ? [outcome] : []));
  return [...groupBy(failed, (outcome) => outcome.code ?? 'UNKNOWN')]
    .map(([code, members]) => ({
      code,
      documentIds: members.map((outcome) => outcome.documentId),
      message: members[0]?.message ?? '',
    }))
    .sort((a, b) => b.documentIds.length - a.documentIds.length || (a.code < b.code ? -1 : 1));
}

function isKnown({ language }: DocumentReport): boolean {
  return language.expected !== null;
}

function isRecognised({ language }: DocumentReport): boolean {
  return language.expected !== null && language.expected === language.detected;
}

function highest(reports: readonly DocumentReport[], top: number, by: (r: DocumentReport) => number): DocumentReport[] {
  return [...reports].sort((a, b) => by(b) - by(a)).slice(0, top);
}

/** `Map.groupBy`, which Node 20 does not have yet. */
function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}
