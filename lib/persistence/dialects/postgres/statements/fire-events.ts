import type { EventMatch } from '../../../../engine/ports/index.js';
import type { Statement } from '../../../data-source/statement.js';
import type { TableNames } from '../../../table-names.js';
import { RowSet } from '../row-set.js';
import { clock, milliseconds, OPEN_STAGE_RUN, sameOwner } from '../sql.js';
import { notHad, OPEN_EVENT_WAIT } from './event-waits.js';
import { resumeStageRuns } from './resume.js';

interface MatchRow {
  rid: string;
  sid: string;
  key: string;
  eid: string;
}
const matchRows = new RowSet<MatchRow>({ rid: 'uuid', sid: 'uuid', key: 'text', eid: 'uuid' });

export const matchValues = (matches: readonly EventMatch[]): string[] =>
  matchRows.values(
    matches.map(({ runId, stageRunId, key, eventId }) => ({ rid: runId, sid: stageRunId, key, eid: eventId })),
  );

export interface WaitName {
  readonly runId: string;
  readonly stageRunId: string;
  readonly key: string;
}
interface NameRow {
  rid: string;
  sid: string;
  key: string;
}
export const nameRows = new RowSet<NameRow>({ rid: 'uuid', sid: 'uuid', key: 'text' });

export const nameValues = (waits: readonly WaitName[]): string[] =>
  nameRows.values(waits.map(({ runId, stageRunId, key }) => ({ rid: runId, sid: stageRunId, key })));

export interface RunLockRow {
  id: string;
  locked: boolean;
}

/** Locks runs in id order, and never waits: which of those that exist could be had. $1 run ids. */
export function lockWaitingRuns(t: TableNames): Statement {
  return {
    name: 'lock-waiting-runs',
    text: `
    WITH lk AS MATERIALIZED (SELECT id FROM ${t.runs} WHERE id = ANY ($1::uuid[]) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED)
    SELECT r.id, lk.id IS NOT NULL AS locked FROM ${t.runs} r LEFT JOIN lk ON lk.id = r.id WHERE r.id = ANY ($1::uuid[])`,
  };
}

/** The row that `d` names, through its key alone: by its run, open waits would be walked through from end to end. */
const lockedRow = (t: TableNames): string =>
  `(SELECT s.* FROM ${t.steps} s WHERE s.stage_run_id = d.sid AND s.key = d.key FOR NO KEY UPDATE)`;

export interface FiredRow {
  /** Which match could have been fired, from 1. */
  nr: number;
  fired: boolean;
}

/**
 * Ends waits of locked runs with their events. A wait takes the first of several events, a run an event once: what loses to
 * another match of the same call comes back as not fired, and the caller sees whether it may still come (the other was given
 * to somebody else). A wait that has ended meanwhile, or whose limit had passed when the event was recorded, is left out.
 * Outcomes stand in the order of the matches. $1 offset ms.
 */
export function fireEvents(t: TableNames): Statement {
  const now = clock('$1');
  return {
    name: 'fire-events',
    text: `
    WITH d AS MATERIALIZED (SELECT * FROM ${matchRows.source('d', 2)}),
    w AS MATERIALIZED (
      SELECT d.nr, d.rid, d.sid, d.key, d.eid, e.payload
        FROM d CROSS JOIN LATERAL ${lockedRow(t)} s
          JOIN ${t.runs} r ON r.id = d.rid AND ${sameOwner('r', 's')} AND r.status = 'RUNNING' JOIN ${t.stageRuns} g ON g.id = d.sid AND g.status IN ${OPEN_STAGE_RUN}
          JOIN ${t.events} e ON e.id = d.eid AND ${sameOwner('e', 's')}
       WHERE s.run_id = d.rid AND ${OPEN_EVENT_WAIT} AND (s.expires_at IS NULL OR e.created_at < s.expires_at) AND ${notHad(t, 'd.eid', 'd.rid', 's')}),
    once AS (SELECT w.*, row_number() OVER (PARTITION BY rid, eid ORDER BY nr) AS nth FROM w),
    given AS (SELECT once.*, row_number() OVER (PARTITION BY sid, key ORDER BY nr) AS place FROM once WHERE nth = 1),
    f AS (
      UPDATE ${t.steps} s SET status = 'completed', open = false, result = x.payload, event_id = x.eid, fired_at = ${now} + x.nr * interval '1 microsecond'
        FROM given x WHERE x.place = 1 AND s.stage_run_id = x.sid AND s.key = x.key RETURNING s.stage_run_id, s.run_id, s.owner_id, x.nr),
    ${resumeStageRuns(t, 'f')}
    SELECT w.nr::int AS nr, f.nr IS NOT NULL AS fired FROM w LEFT JOIN f ON f.nr = w.nr ORDER BY w.nr`,
  };
}

/**
 * Ends waits of locked runs whose limit has passed; under a run or a stage that has ended they are cancelled. $1 offset ms, $2 ahead ms.
 */
export function fireTimeouts(t: TableNames): Statement {
  const now = clock('$1');
  return {
    name: 'fire-timeouts',
    text: `
    WITH d AS MATERIALIZED (SELECT * FROM ${nameRows.source('d', 3)}),
    w AS MATERIALIZED (
      SELECT d.nr, s.stage_run_id, s.key, coalesce(r.status = 'RUNNING' AND g.status IN ${OPEN_STAGE_RUN}, false) AS lives
        FROM d CROSS JOIN LATERAL ${lockedRow(t)} s JOIN ${t.runs} r ON r.id = d.rid LEFT JOIN ${t.stageRuns} g ON g.id = d.sid
       WHERE s.run_id = d.rid AND ${OPEN_EVENT_WAIT} AND s.due_at <= ${now} + ${milliseconds('$2::float8')}),
    f AS (
      UPDATE ${t.steps} s SET status = CASE WHEN w.lives THEN 'completed' ELSE 'cancelled' END, open = false, timed_out = w.lives, fired_at = ${now} + w.nr * interval '1 microsecond'
        FROM w WHERE s.stage_run_id = w.stage_run_id AND s.key = w.key RETURNING s.stage_run_id, s.run_id, s.owner_id, w.lives),
    ${resumeStageRuns(t, 'f')}
    SELECT count(*) FILTER (WHERE lives)::int AS fired, count(*)::int AS ended FROM f`,
  };
}
