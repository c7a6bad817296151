import type { OpenWait } from '../../../../engine/ports/index.js';
import type { TableNames } from '../../../table-names.js';
import { RowSet } from '../row-set.js';
import { milliseconds } from '../sql.js';
import { triesOf } from './step-state.js';

interface WaitRow {
  /** Which of the call's items awaits it, from 1. */
  w: number;
  key: string;
  kind: string;
  due_in: number | null;
  due_on: string | null;
  if_new: boolean;
  expires: number | null;
  event_key: string | null;
  subject_type: string | null;
  subject_id: string | null;
  condition: string | null;
  child: string | null;
  state: string | null;
  epoch: number;
}

export const waitRows = new RowSet<WaitRow>({
  w: 'int',
  key: 'text',
  kind: 'text',
  due_in: 'float8',
  due_on: 'timestamptz',
  if_new: 'boolean',
  expires: 'float8',
  event_key: 'text',
  subject_type: 'text',
  subject_id: 'text',
  condition: 'text',
  child: 'uuid',
  state: 'json',
  epoch: 'int',
});

/** @param w place of the item that awaits them, from 1 */
export function waitRow(w: number, wait: OpenWait): WaitRow {
  const { due, subject } = wait;
  return {
    w,
    key: wait.key,
    kind: wait.kind,
    due_in: due && 'inMs' in due ? due.inMs : null,
    due_on: due && 'at' in due ? due.at : null,
    if_new: wait.dueIfNew,
    expires: wait.expiresInMs,
    event_key: wait.eventKey,
    subject_type: subject?.type ?? null,
    subject_id: subject?.id ?? null,
    condition: wait.where,
    child: wait.childRunId,
    state: wait.state,
    epoch: wait.epoch,
  };
}

/**
 * CTEs that open waits: `waits_again` for rows that stand, `waits_new` for those that don't.
 *
 * The limit counts from when the wait was new, and the row is due at the limit at the latest; a wait that is awaited again keeps
 * its limit, and its instant too where that is asked for. A failure that was opened again counts as new. An event's wait
 * that was not open meanwhile, or was for something else, has to be checked against stored events anew.
 *
 * @param v name of a CTE: the columns of `waitRows`, and `sid`, `run_id`, `owner_id`, `token`, `there` (the row stands, and is locked)
 */
export function openWaits(t: TableNames, v: string, now: string): string {
  const due = `coalesce(v.due_on, ${now} + ${milliseconds('v.due_in')})`;
  const limit = `${now} + ${milliseconds('v.expires')}`;
  const holder = `CASE WHEN v.kind IN ('run', 'once') THEN v.token END`;
  return `
    waits_again AS (
      UPDATE ${t.steps} s SET kind = v.kind, status = 'waiting', open = true, attempt = ${triesOf('s')} + (v.kind = 'poll')::int,
             due_at = CASE WHEN s.reopened THEN least(${due}, ${limit}) WHEN v.if_new THEN coalesce(s.due_at, least(${due}, s.expires_at))
                           ELSE least(${due}, s.expires_at) END,
             expires_at = CASE WHEN s.reopened THEN ${limit} ELSE s.expires_at END, event_key = v.event_key, subject_type = v.subject_type,
             checked = s.open AND s.checked AND (s.event_key, s.subject_type, s.subject_id, s.condition) IS NOT DISTINCT FROM (v.event_key, v.subject_type, v.subject_id, v.condition),
             subject_id = v.subject_id, condition = v.condition, child_run_id = v.child, state = v.state, epoch = v.epoch, token = ${holder},
             lease_until = NULL, reopened = false, timed_out = false, seq = NULL, fired_at = NULL
        FROM ${v} v WHERE v.there AND s.stage_run_id = v.sid AND s.key = v.key),
    waits_new AS (
      INSERT INTO ${t.steps} (stage_run_id, key, run_id, owner_id, kind, status, open, attempt, due_at, expires_at, event_key, subject_type, subject_id,
             condition, child_run_id, state, epoch, token, created_at)
      SELECT v.sid, v.key, v.run_id, v.owner_id, v.kind, 'waiting', true, (v.kind = 'poll')::int, least(${due}, ${limit}), ${limit}, v.event_key, v.subject_type,
             v.subject_id, v.condition, v.child, v.state, v.epoch, ${holder}, ${now}
        FROM ${v} v WHERE NOT v.there ORDER BY v.sid, v.key
          ON CONFLICT (stage_run_id, key) DO NOTHING RETURNING stage_run_id, key)`;
}
