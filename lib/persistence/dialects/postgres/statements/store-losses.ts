import type { Statement } from '../../../data-source/statement.js';
import type { TableNames } from '../../../table-names.js';
import { RowSet } from '../row-set.js';
import { CLAIMED, clock, DELAYED, DUE, EXECUTE, isEscalated, milliseconds } from '../sql.js';
import { ATTEMPT_COLUMNS } from './attempt-columns.js';
import { overLease, pastCap } from './over-lease.js';

/** The end of an attempt whose lease is over, as the reaper decided it. */
export interface LossRow {
  sid: string;
  token: string;
  rid: string;
  jid: string;
  kind: number;
  /** It was found past the absolute cap. */
  capped: boolean;
  /** PENDING: requeued. FAILED: for good. */
  status: string;
  code: string;
  message: string;
  stack: string | null;
  cause: string | null;
  delay: number | null;
}

export const lossRows = new RowSet<LossRow>({
  sid: 'uuid',
  token: 'uuid',
  rid: 'uuid',
  jid: 'uuid',
  kind: 'smallint',
  capped: 'boolean',
  status: 'text',
  code: 'text',
  message: 'text',
  stack: 'text',
  cause: 'json',
  delay: 'float8',
});

export interface LossAnswer {
  ok: boolean;
  /** It is an escalation's: its failure is its own. Null where no attempt was ended. */
  escalated: boolean | null;
}

/**
 * First statement of reaping: run locks, then jobs that are still over their lease, then the outcome.
 *
 * The lease is judged again on the locked job: between the reaper's look and this lock the holder may have sent its
 * heartbeat (fault C4). That must not turn a lost lease into one past the cap either, which would be requeued: what is over
 * for another reason than the reaper saw is left to its next look (LEASE-4). Losses don't use up attempts: the attempt is counted back (LEASE-3). A job whose run has ended is
 * removed. $1 offset ms, $2 stale ms, $3 cap ms.
 */
export function storeLosses(t: TableNames): Statement {
  const now = clock('$1');
  return {
    name: 'store-losses',
    text: `
    WITH d AS MATERIALIZED (SELECT * FROM ${lossRows.source('d', 4)}),
    lk AS MATERIALIZED (SELECT id, status FROM ${t.runs} WHERE id IN (SELECT rid FROM d) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED),
    jb AS MATERIALIZED (
      SELECT j.id FROM ${t.jobs} j JOIN d ON d.jid = j.id JOIN lk ON lk.id = d.rid
       WHERE j.state = ${CLAIMED} AND j.claim_token = d.token AND ${overLease(now, 'j')}
         AND ${pastCap(now, 'j')} = d.capped FOR UPDATE OF j SKIP LOCKED),
    u AS (
      UPDATE ${t.stageRuns} s SET status = d.status, losses = s.losses + 1, attempt = CASE WHEN d.status = 'PENDING' THEN s.attempt - 1 ELSE s.attempt END,
             error_code = d.code, error_message = d.message, finished_at = CASE WHEN d.status = 'PENDING' THEN NULL ELSE ${now} END,
             claim_token = NULL, version = s.version + 1
        FROM d JOIN jb ON jb.id = d.jid JOIN lk ON lk.id = d.rid AND lk.status = 'RUNNING'
       WHERE d.kind = ${EXECUTE} AND s.id = d.sid AND s.claim_token = d.token AND s.status = 'RUNNING'
      RETURNING d.*, s.owner_id, s.attempt AS attempt_now, s.worker_id, s.started_at, ${isEscalated('s')} AS escalated),
    again AS (
      UPDATE ${t.jobs} j SET state = CASE WHEN d.delay > 0 THEN ${DELAYED} ELSE ${DUE} END, run_at = CASE WHEN d.delay > 0 THEN ${now} + ${milliseconds('d.delay')} ELSE j.run_at END,
             claim_token = NULL, locked_by = NULL, locked_at = NULL, started_at = NULL
        FROM d JOIN jb ON jb.id = d.jid LEFT JOIN u ON u.nr = d.nr
       WHERE j.id = d.jid AND d.status = 'PENDING' AND (u.nr IS NOT NULL OR d.kind <> ${EXECUTE}) RETURNING j.id),
    gone AS (
      DELETE FROM ${t.jobs} j USING d JOIN jb ON jb.id = d.jid LEFT JOIN u ON u.nr = d.nr
       WHERE j.id = d.jid AND NOT (d.status = 'PENDING' AND (u.nr IS NOT NULL OR d.kind <> ${EXECUTE})) RETURNING j.id),
    tried AS (
      INSERT INTO ${t.attempts} (${ATTEMPT_COLUMNS})
      SELECT rid, owner_id, sid, CASE WHEN status = 'PENDING' THEN attempt_now + 1 ELSE attempt_now END, worker_id, started_at, ${now},
             extract(epoch FROM ${now} - started_at) * 1000, code, message, stack, cause FROM u)
    SELECT u.nr IS NOT NULL OR d.kind <> ${EXECUTE} AND jb.id IS NOT NULL AS ok, u.escalated FROM d LEFT JOIN u ON u.nr = d.nr LEFT JOIN jb ON jb.id = d.jid ORDER BY d.nr`,
  };
}
