import type { Statement } from '../../../data-source/statement.js';
import type { TableNames } from '../../../table-names.js';
import { RowSet } from '../row-set.js';
import { clock, DELAYED, DUE, isEscalated, milliseconds } from '../sql.js';
import { ATTEMPT_COLUMNS } from './attempt-columns.js';

/** An outcome whose consequence is decided after this statement, under the locks it takes. */
export interface OutcomeRow {
  sid: string;
  token: string;
  rid: string;
  jid: string;
  status: string;
  output: string | null;
  outcome: string | null;
  skip_reason: string | null;
  back: number;
  deferral: number;
  code: string | null;
  message: string | null;
  stack: string | null;
  cause: string | null;
  delay: number | null;
}

export const outcomeRows = new RowSet<OutcomeRow>({
  sid: 'uuid',
  token: 'uuid',
  rid: 'uuid',
  jid: 'uuid',
  status: 'text',
  output: 'json',
  outcome: 'text',
  skip_reason: 'text',
  back: 'int',
  deferral: 'int',
  code: 'text',
  message: 'text',
  stack: 'text',
  cause: 'json',
  delay: 'float8',
});

export interface OutcomeAnswer {
  locked: boolean;
  ok: boolean;
  /** Stages of the node that are still open; null where it has but one stage. */
  open: number | null;
  /** It is an escalation's: it ends neither its node nor its run. Null where it was not stored. */
  escalated: boolean | null;
}

/**
 * First statement of a joined record: run locks, fence, outcomes, counters.
 *
 * What follows is decided by the next statement's snapshot: here, before the lock was had, two branches of one group would
 * each still see the other one open (fault D4). Counters move once per node, by as many branches as ended in this group
 * (GRP-2). `wait`: the slow lane, which waits for locks (under a lock_timeout) instead of skipping. $1 offset ms.
 */
export function storeOutcomes(t: TableNames, wait: boolean): Statement {
  const now = clock('$1');
  return {
    name: wait ? 'store-outcomes-wait' : 'store-outcomes',
    text: `
    WITH d AS MATERIALIZED (SELECT * FROM ${outcomeRows.source('d', 2)}),
    lk AS MATERIALIZED (SELECT id, status FROM ${t.runs} WHERE id IN (SELECT rid FROM d) ORDER BY id FOR NO KEY UPDATE ${wait ? '' : 'SKIP LOCKED'}),
    u AS (
      UPDATE ${t.stageRuns} s SET status = d.status, output = d.output, outcome = d.outcome, skip_reason = d.skip_reason, attempt = s.attempt - d.back,
             deferrals = s.deferrals + d.deferral, error_code = coalesce(d.code, s.error_code), error_message = coalesce(d.message, s.error_message),
             finished_at = CASE WHEN d.status = 'PENDING' THEN NULL ELSE ${now} END,
             claim_token = CASE WHEN d.status = 'PENDING' THEN NULL ELSE s.claim_token END, version = s.version + 1
        FROM d JOIN lk ON lk.id = d.rid AND lk.status = 'RUNNING'
       WHERE s.id = d.sid AND s.claim_token = d.token AND s.status = 'RUNNING'
      RETURNING d.*, s.owner_id, s.generation, s.node, s.visit, s.attempt AS attempt_now, s.worker_id, s.started_at, ${isEscalated('s')} AS escalated),
    again AS (
      UPDATE ${t.jobs} j SET state = CASE WHEN u.delay > 0 THEN ${DELAYED} ELSE ${DUE} END, run_at = CASE WHEN u.delay > 0 THEN ${now} + ${milliseconds('u.delay')} ELSE j.run_at END,
             claim_token = NULL, locked_by = NULL, locked_at = NULL, started_at = NULL, attempt = j.attempt - u.back
        FROM u WHERE j.id = u.jid AND u.status = 'PENDING'),
    done AS (DELETE FROM ${t.jobs} j USING u WHERE j.id = u.jid AND u.status <> 'PENDING'),
    tried AS (
      INSERT INTO ${t.attempts} (${ATTEMPT_COLUMNS})
      SELECT rid, owner_id, sid, attempt_now, worker_id, started_at, ${now}, extract(epoch FROM ${now} - started_at) * 1000, code, message, stack, cause
        FROM u WHERE code IS NOT NULL),
    ct AS (
      UPDATE ${t.nodeVisits} v SET open = v.open - c.ended
        FROM (SELECT rid, generation, node, visit, count(*)::int AS ended FROM u WHERE status IN ('COMPLETED', 'SKIPPED') GROUP BY rid, generation, node, visit) c
       WHERE v.run_id = c.rid AND v.generation = c.generation AND v.node = c.node AND v.visit = c.visit
      RETURNING v.run_id, v.node, v.visit, v.open)
    SELECT lk.id IS NOT NULL AS locked, u.sid IS NOT NULL AS ok, ct.open, u.escalated
      FROM d LEFT JOIN u ON u.nr = d.nr LEFT JOIN lk ON lk.id = d.rid LEFT JOIN ct ON ct.run_id = u.rid AND ct.node = u.node AND ct.visit = u.visit
     ORDER BY d.nr`,
  };
}
