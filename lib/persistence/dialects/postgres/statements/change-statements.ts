import type { Statement } from '../../../data-source/statement.js';
import type { TableNames } from '../../../table-names.js';
import { clock } from '../sql.js';

/**
 * Locks the jobs of a run whose lock is held. Waits for claims that are under way, one statement each; those that come
 * later skip what is locked. What is read after this stays as it is, RUNNING or not. $1 run id.
 */
export function holdJobs(t: TableNames): Statement {
  return {
    name: 'hold-jobs',
    text: `SELECT count(*)::int AS held FROM (SELECT id FROM ${t.jobs} WHERE run_id = $1::uuid ORDER BY id FOR NO KEY UPDATE) j`,
  };
}

/** A key that a change was made under. After the run's lock, in a snapshot that sees who had it before. $1 digest, $2 owner of the run. */
export function findChangeKey(t: TableNames): Statement {
  return {
    name: 'find-change-key',
    text: `SELECT run_id FROM ${t.idempotencyKeys} WHERE digest = $1::bytea AND scope = 'change' AND owner_id IS NOT DISTINCT FROM $2::text`,
  };
}

/** Kept for as long as the run: it never expires. Its run's lock keeps two from writing it. $1 offset ms, $2 digest, $3 run id, $4 owner. */
export function keepChangeKey(t: TableNames): Statement {
  return {
    name: 'keep-change-key',
    text: `
    WITH kept AS (
      INSERT INTO ${t.idempotencyKeys} (digest, scope, run_id, owner_id, created_at)
      VALUES ($2::bytea, 'change', $3::uuid, $4::text, ${clock('$1')}) RETURNING run_id)
    SELECT run_id FROM kept`,
  };
}
