import type { RecordedBeside } from '../../../../engine/ports/index.js';
import type { Statement } from '../../../data-source/statement.js';
import type { TableNames } from '../../../table-names.js';
import { RowSet } from '../row-set.js';
import { clock } from '../sql.js';
import { noteValues, progressOf, writeNotes } from './attempt-notes.js';

/** An attempt whose outcome was recorded a moment ago, in the same transaction, and what is written with it. */
export interface BesideItem {
  readonly stageRunId: string;
  readonly token: string;
  readonly attempt: number;
  readonly beside: RecordedBeside;
}

interface HeadRow {
  sid: string;
  token: string;
  attempt: number;
  cancels: boolean;
  frees: boolean;
  progress: string | null;
}
interface ReopenRow {
  w: number;
  key: string;
}
const headRows = new RowSet<HeadRow>({
  sid: 'uuid',
  token: 'uuid',
  attempt: 'int',
  cancels: 'boolean',
  frees: 'boolean',
  progress: 'json',
});
const reopenRows = new RowSet<ReopenRow>({ w: 'int', key: 'text' });

/**
 * What outcomes bring along, after the statement that recorded them: the run's lock is held, the fence has held.
 *
 * The three changes of the ledger are about rows of different statuses, so none meets a row that another one changes. $1 offset ms.
 */
export function writeBeside(t: TableNames): Statement {
  const now = clock('$1');
  const second = 2 + headRows.width;
  return {
    name: 'write-beside',
    text: `
    WITH h AS MATERIALIZED (SELECT x.*, s.run_id, s.owner_id FROM ${headRows.source('x', 2)} JOIN ${t.stageRuns} s ON s.id = x.sid),
    cancelled AS (
      UPDATE ${t.steps} s SET status = 'cancelled', open = false, fired_at = ${now}
        FROM h WHERE h.cancels AND s.run_id = h.run_id AND s.stage_run_id = h.sid AND s.open),
    freed AS (
      UPDATE ${t.steps} s SET status = 'ready', lease_until = NULL
        FROM h WHERE h.frees AND s.stage_run_id = h.sid AND s.status = 'running' AND s.token = h.token),
    reopened AS (
      UPDATE ${t.steps} s SET reopened = true
        FROM ${reopenRows.source('n', second)} JOIN h ON h.nr = n.w WHERE s.stage_run_id = h.sid AND s.key = n.key AND s.status = 'failed'),
    reported AS (UPDATE ${t.stageRuns} s SET progress = h.progress FROM h WHERE s.id = h.sid AND h.progress IS NOT NULL),
    ${writeNotes(t, 'h', now, second + reopenRows.width)}
    SELECT count(*)::int AS written FROM h`,
  };
}

export const besideValues = (offsetMs: number, items: readonly BesideItem[]): unknown[] => [
  offsetMs,
  ...headRows.values(
    items.map(({ stageRunId, token, attempt, beside }) => ({
      sid: stageRunId,
      token,
      attempt,
      cancels: beside.cancelWaits,
      frees: beside.freeSteps,
      progress: progressOf(beside.notes),
    })),
  ),
  ...reopenRows.values(
    items.flatMap(({ beside }, index) => [...new Set(beside.reopen)].map((key) => ({ w: index + 1, key }))),
  ),
  ...noteValues(items.map(({ beside }) => beside.notes)),
];
