import type { TableNames } from '../../../table-names.js';
import { sameOwner } from '../sql.js';
import { SIGNAL_ORDER } from './signal-order.js';

/**
 * CTEs that give signals which lie there to waits, oldest first: `signals` (stage_run_id, key, id, payload). Only under the run's
 * lock, which whoever sends one holds too. A wait whose limit has passed stands behind the others, and gets only what came before
 * its limit.
 *
 * @param waits name of a CTE of open waits for signals: columns of the ledger
 */
export function lyingSignals(t: TableNames, waits: string, now: string): string {
  return `
    signal_waits AS MATERIALIZED (
      SELECT s.stage_run_id, s.key, s.run_id, s.owner_id, s.event_key, s.expires_at,
             row_number() OVER (PARTITION BY s.run_id, s.event_key ORDER BY coalesce(s.expires_at <= ${now}, false), ${SIGNAL_ORDER}) AS place
        FROM ${waits} s WHERE s.kind = 'signal'),
    signals AS MATERIALIZED (
      SELECT w.stage_run_id, w.key, e.id, e.payload
        FROM signal_waits w JOIN (
          SELECT e.id, e.run_id, e.key, e.payload, e.created_at, row_number() OVER (PARTITION BY e.run_id, e.key ORDER BY e.id) AS place
            FROM ${t.events} e WHERE e.run_id IN (SELECT run_id FROM signal_waits) AND NOT e.taken
             AND EXISTS (SELECT 1 FROM signal_waits w WHERE w.run_id = e.run_id AND ${sameOwner('w', 'e')})) e
          ON e.run_id = w.run_id AND e.key = w.event_key AND e.place = w.place
       WHERE w.expires_at IS NULL OR e.created_at < w.expires_at),
    signals_taken AS (UPDATE ${t.events} e SET taken = true FROM signals x WHERE e.id = x.id)`;
}
