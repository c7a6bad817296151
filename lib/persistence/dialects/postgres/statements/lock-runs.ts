import { LONGEST_SILENCE_MS } from '../../../data-source/silence.js';
import type { Statement } from '../../../data-source/statement.js';
import type { TableNames } from '../../../table-names.js';

/** Locks runs in id order; answers those that were had. `wait`: the slow lane, under a lock_timeout. $1 run ids. */
export function lockRuns(t: TableNames, wait: boolean): Statement {
  return {
    name: wait ? 'lock-runs-wait' : 'lock-runs',
    text: `SELECT id FROM ${t.runs} WHERE id = ANY ($1::uuid[]) ORDER BY id FOR NO KEY UPDATE ${wait ? '' : 'SKIP LOCKED'}`,
  };
}

const SILENCE = 'idle_in_transaction_session_timeout';

/**
 * The run of an attempt, then its stage run, both waited for: last of what a transaction of the host's does, so that neither is
 * held while the host writes. Whoever holds one of them and waits for a row of the host's is a deadlock, which the
 * server ends. From here on a process that stands still loses its transaction, unless the host has a limit of its own. $1 run id, $2 stage run id.
 */
export function lockAttempt(t: TableNames): Statement {
  return {
    name: 'lock-attempt',
    text: `
    WITH silence AS MATERIALIZED (
      SELECT set_config('${SILENCE}', '${LONGEST_SILENCE_MS}', true) FROM current_setting('${SILENCE}') AS hosts WHERE hosts = '0'),
    r AS MATERIALIZED (SELECT id FROM ${t.runs} WHERE id = $1::uuid FOR NO KEY UPDATE)
    SELECT s.id, (SELECT count(*) FROM silence) AS limited FROM r JOIN ${t.stageRuns} s ON s.run_id = r.id WHERE s.id = $2::uuid FOR NO KEY UPDATE OF s`,
  };
}
