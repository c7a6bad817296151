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

/**
 * The run of an attempt, then its stage run, both waited for: last of what a transaction of the host's does, so that neither is
 * held while the host writes. Whoever holds one of them and waits for a row of the host's is a deadlock, which the
 * server ends. From here on a process that stands still loses its transaction, unless the host has limits of its own, be it silent or
 * does not take what it asked for: the run's outputs may follow. $1 run id, $2 stage run id, $3 `SilenceLimits.sendMs`.
 */
export function lockAttempt(t: TableNames): Statement {
  return {
    name: 'lock-attempt',
    text: `
    WITH silence AS MATERIALIZED (
      SELECT set_config(name, ms, true) FROM (VALUES ('idle_in_transaction_session_timeout', '${LONGEST_SILENCE_MS}'), ('tcp_user_timeout', $3::text)) AS wanted (name, ms)
       WHERE current_setting(name) = '0' AND ms <> '0'),
    r AS MATERIALIZED (SELECT id FROM ${t.runs} WHERE id = $1::uuid FOR NO KEY UPDATE)
    SELECT s.id, (SELECT count(*) FROM silence) AS limited FROM r JOIN ${t.stageRuns} s ON s.run_id = r.id WHERE s.id = $2::uuid FOR NO KEY UPDATE OF s`,
  };
}
