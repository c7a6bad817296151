import type { Statement } from '../../../data-source/statement.js';
import type { TableNames } from '../../../table-names.js';
import { RowSet } from '../row-set.js';
import { CLAIMED, clock, DELAYED, DUE, milliseconds, slotOf } from '../sql.js';
import { ATTEMPT_COLUMNS } from './attempt-columns.js';
import { NEW_STAGE_RUN_COLUMNS, type NewStageRunRow } from './new-stage-run-row.js';

/** A linear outcome: what one attempt ended as, and the one stage run, or the end of the run, that follows. */
export interface RecordRow {
  sid: string;
  token: string;
  rid: string;
  jid: string;
  status: string;
  output: string | null;
  skip_reason: string | null;
  /** 1 when the attempt is given back. */
  back: number;
  deferral: number;
  code: string | null;
  message: string | null;
  stack: string | null;
  cause: string | null;
  /** Of a status PENDING: milliseconds until the job is due again. */
  delay: number | null;
  nid: string | null;
  nnode: string | null;
  nposition: number | null;
  nkey: string | null;
  nstage: string | null;
  nordinal: number | null;
  nqueue: string | null;
  ncap: number | null;
  /** Token under which the next stage run is handed off; null = it goes back to the queue. */
  ntoken: string | null;
  ends: boolean;
  /** Output of a run that ends, where it isn't the stage's. */
  final: string | null;
  events: string;
  handed_events: string | null;
}

/** A linear outcome of a graph: which way its node went, and which visit follows. */
export interface PassingRow extends RecordRow {
  outcome: string | null;
  nvisit: number | null;
}

/** A node that a run passes on its way to what follows, without a worker. */
export interface PassedRow extends PassedColumns {
  /** The stage run whose end it follows. */
  after: string;
}
type PassedColumns = Omit<NewStageRunRow, 'rid' | 'code' | 'message'>;

const RECORD_COLUMNS = {
  sid: 'uuid',
  token: 'uuid',
  rid: 'uuid',
  jid: 'uuid',
  status: 'text',
  output: 'json',
  skip_reason: 'text',
  back: 'int',
  deferral: 'int',
  code: 'text',
  message: 'text',
  stack: 'text',
  cause: 'json',
  delay: 'float8',
  nid: 'uuid',
  nnode: 'text',
  nposition: 'int',
  nkey: 'text',
  nstage: 'text',
  nordinal: 'int',
  nqueue: 'text',
  ncap: 'bigint',
  ntoken: 'uuid',
  ends: 'boolean',
  final: 'json',
  events: 'json',
  handed_events: 'json',
} as const;

export const recordRows = new RowSet<RecordRow>(RECORD_COLUMNS);
export const passingRows = new RowSet<PassingRow>({ ...RECORD_COLUMNS, outcome: 'text', nvisit: 'int' });
const { rid: _run, code: _code, message: _message, ...passedColumns } = NEW_STAGE_RUN_COLUMNS;
export const passedRows = new RowSet<PassedRow>({ after: 'uuid', ...passedColumns });

export interface RecordAnswer {
  /** The run's row could be locked. */
  locked: boolean;
  ok: boolean;
  handed_off: boolean;
  awaited: boolean | null;
  /** Of a run that ended: its parent waits for it. */
  child: boolean | null;
}

/**
 * Stores any number of linear outcomes with their consequences: one statement, one commit (group commit).
 *
 * `lk` takes the run rows first, SKIP LOCKED: it never waits, two groups can't deadlock, and a run that a cancel holds comes
 * back as busy. `u` is the fence: claim token, RUNNING stage run, RUNNING run; all else reads `u`, so what is not fenced
 * writes nothing. A successor keeps the job row, and with it the run's place in the queue; it is handed off only if no due
 * job has a smaller key (`hd`: one index lookup a statement), else it goes back to the queue and the claim decides.
 * $1 offset ms, $2 worker id, $3 queues this worker serves (null = all).
 */
export const record = (t: TableNames): Statement => ({ name: 'record', text: recordText(t, false) });

/** The same where graphs are among them: outcomes with names, later visits, and nodes that a run passes on its way. */
export const recordPassing = (t: TableNames): Statement => ({ name: 'record-passing', text: recordText(t, true) });

function recordText(t: TableNames, passing: boolean): string {
  const now = clock('$1');
  const rows = passing ? passingRows : recordRows;
  const of = (text: string): string => (passing ? text : '');
  return `
    WITH d AS MATERIALIZED (SELECT * FROM ${rows.source('d', 4)}),
    lk AS MATERIALIZED (SELECT id, status FROM ${t.runs} WHERE id IN (SELECT rid FROM d) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED),
    hd AS MATERIALIZED (
      SELECT priority, run_at, run_id FROM ${t.jobs} WHERE state = ${DUE} AND ($3::text[] IS NULL OR queue = ANY ($3::text[]))
       ORDER BY priority DESC, run_at, run_id LIMIT 1),
    u AS (
      UPDATE ${t.stageRuns} s SET status = d.status, output = d.output,${of(' outcome = d.outcome,')} skip_reason = d.skip_reason, attempt = s.attempt - d.back,
             deferrals = s.deferrals + d.deferral, error_code = coalesce(d.code, s.error_code), error_message = coalesce(d.message, s.error_message),
             finished_at = CASE WHEN d.status = 'PENDING' THEN NULL ELSE ${now} END,
             claim_token = CASE WHEN d.status = 'PENDING' THEN NULL ELSE s.claim_token END, version = s.version + 1
        FROM d JOIN lk ON lk.id = d.rid AND lk.status = 'RUNNING' JOIN ${t.jobs} j ON j.id = d.jid LEFT JOIN hd ON true
       WHERE s.id = d.sid AND s.claim_token = d.token AND s.status = 'RUNNING'
      RETURNING d.*, s.owner_id, s.generation, s.attempt AS attempt_now, s.worker_id, s.started_at,
                (d.ntoken IS NOT NULL AND ($3::text[] IS NULL OR d.nqueue = ANY ($3::text[]))
                 AND (hd.run_id IS NULL OR j.priority > hd.priority OR j.priority = hd.priority AND (j.run_at, j.run_id) <= (hd.run_at, hd.run_id))) AS hand),
    n AS (
      INSERT INTO ${t.stageRuns} (id, run_id, owner_id, generation, node, position, key, stage,${of(' visit,')} ordinal, status, attempt, claim_token, worker_id, created_at, started_at)
      SELECT nid, rid, owner_id, generation, nnode, nposition, nkey, nstage,${of(' nvisit,')} nordinal, CASE WHEN hand THEN 'RUNNING' ELSE 'PENDING' END,
             CASE WHEN hand THEN 1 ELSE 0 END, CASE WHEN hand THEN ntoken END, CASE WHEN hand THEN $2 END, ${now}, CASE WHEN hand THEN ${now} END
        FROM u WHERE nid IS NOT NULL),${of(`
    passed AS (
      INSERT INTO ${t.stageRuns} (id, run_id, owner_id, generation, node, position, key, stage, visit, ordinal, status, skip_reason, output, outcome, created_at, finished_at)
      SELECT p.id, u.rid, u.owner_id, u.generation, p.node, p.position, p.key, p.stage, p.visit, p.ordinal, p.status, p.skip_reason, p.output, p.outcome, ${now}, ${now}
        FROM ${passedRows.source('p', 4 + rows.width)} JOIN u ON u.sid = p.after),`)}
    moved AS (
      UPDATE ${t.jobs} j SET stage_run_id = u.nid, queue = u.nqueue, cap_ms = u.ncap, state = CASE WHEN hand THEN ${CLAIMED} ELSE ${DUE} END,
             claim_token = CASE WHEN hand THEN u.ntoken END, locked_by = CASE WHEN hand THEN $2 END, locked_at = CASE WHEN hand THEN ${now} END,
             started_at = CASE WHEN hand THEN ${now} END, attempt = CASE WHEN hand THEN 1 ELSE 0 END
        FROM u WHERE j.id = u.jid AND u.nid IS NOT NULL),
    again AS (
      UPDATE ${t.jobs} j SET state = CASE WHEN u.delay > 0 THEN ${DELAYED} ELSE ${DUE} END, run_at = CASE WHEN u.delay > 0 THEN ${now} + ${milliseconds('u.delay')} ELSE j.run_at END,
             claim_token = NULL, locked_by = NULL, locked_at = NULL, started_at = NULL, attempt = j.attempt - u.back
        FROM u WHERE j.id = u.jid AND u.status = 'PENDING'),
    done AS (DELETE FROM ${t.jobs} j USING u WHERE j.id = u.jid AND u.status <> 'PENDING' AND u.nid IS NULL),
    ended AS (
      UPDATE ${t.runs} r SET status = 'COMPLETED', output = coalesce(u.final, u.output), finished_at = ${now}, version = r.version + 1
        FROM u WHERE r.id = u.rid AND u.ends RETURNING r.id, r.awaited, r.parent_waits AS child),
    tried AS (
      INSERT INTO ${t.attempts} (${ATTEMPT_COLUMNS})
      SELECT rid, owner_id, sid, attempt_now, worker_id, started_at, ${now}, extract(epoch FROM ${now} - started_at) * 1000, code, message, stack, cause
        FROM u WHERE code IS NOT NULL),
    told AS (
      INSERT INTO ${t.outbox} (run_id, owner_id, slot, events, created_at)
      SELECT rid, owner_id, ${slotOf('rid')}, CASE WHEN hand AND handed_events IS NOT NULL THEN handed_events ELSE events END, ${now} FROM u ORDER BY nr)
    SELECT lk.id IS NOT NULL AS locked, u.sid IS NOT NULL AS ok, coalesce(u.hand, false) AS handed_off, ended.awaited, ended.child
      FROM d LEFT JOIN u ON u.nr = d.nr LEFT JOIN lk ON lk.id = d.rid LEFT JOIN ended ON ended.id = d.rid
     ORDER BY d.nr`;
}
