import type { AttemptNotes } from '../../../../engine/state/notes.js';
import type { TableNames } from '../../../table-names.js';
import { RowSet } from '../row-set.js';

interface AnnotationRow {
  /** Which of the call's items noted it, from 1. */
  w: number;
  id: string;
  key: string;
  value: string;
  scope: string;
  actor: string | null;
}
interface LineRow {
  w: number;
  id: string;
  level: string;
  message: string;
}
const annotationRows = new RowSet<AnnotationRow>({
  w: 'int',
  id: 'uuid',
  key: 'text',
  value: 'json',
  scope: 'text',
  actor: 'json',
});
const lineRows = new RowSet<LineRow>({ w: 'int', id: 'uuid', level: 'text', message: 'text' });

/** Values of the notes of each item of a call, in its order. */
export const noteValues = (items: readonly (AttemptNotes | null)[]): string[] => [
  ...annotationRows.values(
    items.flatMap((notes, index) => notes?.annotations.map((annotation) => ({ ...annotation, w: index + 1 })) ?? []),
  ),
  ...lineRows.values(items.flatMap((notes, index) => notes?.lines.map((line) => ({ ...line, w: index + 1 })) ?? [])),
];

export const progressOf = (notes: AttemptNotes | null): string | null =>
  notes?.progress ? JSON.stringify(notes.progress) : null;

/**
 * CTEs that write what attempts noted. Ids are made in the app, so that a write whose answer was lost notes nothing twice, nor
 * does a body that is replayed. Lines of one attempt stand in the order in which they were written.
 *
 * @param h name of a CTE of the attempts: `nr`, `sid`, `run_id`, `owner_id`, `attempt`
 * @param first number of the first of the parameters that `noteValues` gives
 */
export function writeNotes(t: TableNames, h: string, now: string, first: number): string {
  return `
    annotated AS (
      INSERT INTO ${t.annotations} (id, run_id, stage_run_id, owner_id, key, value, scope, actor, attempt, created_at)
      SELECT n.id, h.run_id, h.sid, h.owner_id, n.key, n.value, n.scope, n.actor, h.attempt, ${now} + n.nr * interval '1 microsecond'
        FROM ${annotationRows.source('n', first)} JOIN ${h} h ON h.nr = n.w ON CONFLICT (id) DO NOTHING),
    logged AS (
      INSERT INTO ${t.logLines} (id, run_id, stage_run_id, owner_id, attempt, level, message, created_at)
      SELECT n.id, h.run_id, h.sid, h.owner_id, h.attempt, n.level, n.message, ${now} + n.nr * interval '1 microsecond'
        FROM ${lineRows.source('n', first + annotationRows.width)} JOIN ${h} h ON h.nr = n.w ON CONFLICT (id) DO NOTHING)`;
}
