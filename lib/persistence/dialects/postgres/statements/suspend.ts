import type { SuspendRecord } from '../../../../engine/ports/index.js';
import type { Statement } from '../../../data-source/statement.js';
import type { TableNames } from '../../../table-names.js';
import { RowSet } from '../row-set.js';
import { clock, sameOwner } from '../sql.js';
import { noteValues, progressOf, writeNotes } from './attempt-notes.js';
import { openWaits, waitRow, waitRows } from './open-waits.js';
import { orderRow, orderRows } from './step-orders.js';
import { FORGED_ARE_GONE, removeForged } from './forged-steps.js';
import { hasOutcome, heldByAnother } from './step-state.js';

interface HeadRow {
  sid: string;
  token: string;
  jid: string;
  attempt: number;
  progress: string | null;
}
interface KeepRow {
  w: number;
  key: string;
}
const headRows = new RowSet<HeadRow>({
  sid: 'uuid',
  token: 'uuid',
  jid: 'uuid',
  attempt: 'int',
  progress: 'json',
});
const keepRows = new RowSet<KeepRow>({ w: 'int', key: 'text' });

export interface FencedRow {
  /** Place of the record, from 1. */
  nr: number;
}

/**
 * Second statement of a suspend, under the runs' locks: waits, places and notes of attempts that still hold their stage runs, and
 * their jobs: a stage whose queue went with its job could not go on.
 *
 * `row` locks what others may change without the run's lock: bodies of earlier attempts that end. Either the end is seen by the
 * look that follows, or whoever ends sees the wait for its lease. $1 offset ms.
 */
export function writeSuspended(t: TableNames): Statement {
  const now = clock('$1');
  const second = 2 + headRows.width;
  const third = second + waitRows.width;
  const fourth = third + orderRows.width;
  const fifth = fourth + keepRows.width;
  return {
    name: 'write-suspended',
    text: `
    WITH h AS MATERIALIZED (
      SELECT x.*, s.run_id, s.owner_id
        FROM ${headRows.source('x', 2)} JOIN ${t.stageRuns} s ON s.id = x.sid AND s.claim_token = x.token AND s.status = 'RUNNING'
        JOIN ${t.runs} r ON r.id = s.run_id AND r.status = 'RUNNING' JOIN ${t.jobs} j ON j.id = x.jid AND j.claim_token = x.token),
    v AS MATERIALIZED (SELECT v.*, h.sid, h.run_id, h.owner_id, h.token FROM ${waitRows.source('v', second)} JOIN h ON h.nr = v.w),
    k AS MATERIALIZED (SELECT h.sid, k.key FROM ${keepRows.source('k', fourth)} JOIN h ON h.nr = k.w UNION SELECT sid, key FROM v),
    had AS MATERIALIZED (
      SELECT s.stage_run_id, s.key, s.status, s.open, s.reopened, s.token, s.lease_until, NOT (${sameOwner('s', 'h')}) AS forged
        FROM ${t.steps} s JOIN h ON h.sid = s.stage_run_id
       WHERE s.open OR s.status = 'running' OR (s.stage_run_id, s.key) IN (SELECT sid, key FROM v)
       ORDER BY s.stage_run_id, s.key FOR NO KEY UPDATE OF s),
    row AS MATERIALIZED (SELECT * FROM had WHERE NOT forged),
    ${removeForged(t)},
    opening AS MATERIALIZED (
      SELECT v.*, row.key IS NOT NULL AS there FROM v LEFT JOIN row ON row.stage_run_id = v.sid AND row.key = v.key
       WHERE (row.key IS NULL OR NOT ${hasOutcome('row')} AND NOT coalesce(${heldByAnother('row', 'v.token', now)}, false)) AND ${FORGED_ARE_GONE}),
    ${openWaits(t, 'opening', now)},
    retired AS (
      UPDATE ${t.steps} s SET status = 'cancelled', open = false, fired_at = ${now}
        FROM row WHERE row.open AND (row.stage_run_id, row.key) NOT IN (SELECT sid, key FROM k) AND s.stage_run_id = row.stage_run_id AND s.key = row.key),
    placed AS (
      UPDATE ${t.steps} s SET seq = o.seq FROM ${orderRows.source('o', third)} JOIN h ON h.nr = o.w WHERE s.stage_run_id = h.sid AND s.key = o.key),
    reported AS (UPDATE ${t.stageRuns} s SET progress = h.progress FROM h WHERE s.id = h.sid AND h.progress IS NOT NULL),
    ${writeNotes(t, 'h', now, fifth)}
    SELECT nr::int AS nr FROM h`,
  };
}

export function suspendedValues(offsetMs: number, records: readonly SuspendRecord[]): unknown[] {
  const each = <T, R>(items: (record: SuspendRecord) => readonly T[], row: (w: number, item: T) => R): R[] =>
    records.flatMap((record, index) => items(record).map((item) => row(index + 1, item)));
  return [
    offsetMs,
    ...headRows.values(
      records.map(({ lease, attempt, notes }) => ({
        sid: lease.stageRunId,
        token: lease.token,
        jid: lease.jobId,
        attempt,
        progress: progressOf(notes),
      })),
    ),
    ...waitRows.values(each(({ waits }) => waits, waitRow)),
    ...orderRows.values(each(({ orders }) => orders, orderRow)),
    ...keepRows.values(
      each(
        ({ keep }) => keep,
        (w, key) => ({ w, key }),
      ),
    ),
    ...noteValues(records.map(({ notes }) => notes)),
  ];
}
