import type { AnnotationFilter, AnnotationRow } from '../../engine/ports/annotation-store.js';
import type { OwnerScope } from '../../engine/ports/scope.js';
import { findRun } from './run-reads.js';
import type { MemorySession } from './session.js';
import type { AnnotationRecord } from './step-records.js';
import { annotationRow } from './views.js';

/** Annotations of one run, newest first (ANN-1). */
export function listAnnotations(session: MemorySession, filter: AnnotationFilter, scope: OwnerScope): AnnotationRow[] {
  const run = findRun(session, filter.runId, scope);
  if (run === undefined) return [];
  const found = session.db.annotationsOf.of(run.id).filter((row) => isWanted(row, filter));
  found.sort((a, b) => (a.id < b.id ? 1 : -1));
  return found.slice(0, filter.limit).map(annotationRow);
}

function isWanted(row: AnnotationRecord, filter: AnnotationFilter): boolean {
  const { keyPrefix = '', scope = row.scope, actor, attempt = row.attempt, since, until, before } = filter;
  return (
    row.key.startsWith(keyPrefix) &&
    row.scope === scope &&
    (actor === undefined || row.actor === actor) &&
    row.attempt === attempt &&
    (since === undefined || row.createdAt >= Date.parse(since)) &&
    (until === undefined || row.createdAt < Date.parse(until)) &&
    (before === undefined || row.id < before)
  );
}
