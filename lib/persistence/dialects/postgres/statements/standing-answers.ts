import type { TableNames } from '../../../table-names.js';
import { ENDED, sameOwner } from '../sql.js';
import { endOfChild } from './child-end.js';
import { lyingSignals } from './lying-signals.js';

/**
 * CTEs that end waits whose answer is there already: `signals` that lie there, and `children` that have ended and whose rows can
 * be had at once (the others are delivered by the pass); each with `stage_run_id` and `key`. Only under the run's lock, in a snapshot
 * that follows it; no other CTE of the statement may change these rows.
 *
 * @param waits name of a CTE of open waits: columns of the ledger
 */
export function standingAnswers(t: TableNames, waits: string, now: string): string {
  return `
    ${lyingSignals(t, waits, now)},
    children AS MATERIALIZED (
      SELECT w.stage_run_id, w.key, c.id, c.status, c.output, c.failure_code, c.failure_message, c.cancel_reason
        FROM ${waits} w JOIN ${t.runs} c ON c.id = w.child_run_id WHERE w.kind = 'child' AND ${sameOwner('c', 'w')} AND c.status IN ${ENDED} ORDER BY c.id FOR NO KEY UPDATE OF c SKIP LOCKED),
    signalled AS (
      UPDATE ${t.steps} s SET status = 'completed', open = false, result = x.payload, event_id = x.id, fired_at = ${now}
        FROM signals x WHERE s.stage_run_id = x.stage_run_id AND s.key = x.key),
    delivered AS (
      UPDATE ${t.steps} s SET ${endOfChild('c', now)} FROM children c WHERE s.stage_run_id = c.stage_run_id AND s.key = c.key),
    told_parents AS (UPDATE ${t.runs} r SET parent_told = true FROM children c WHERE r.id = c.id AND r.parent_waits)`;
}
