import type { Statement } from '../../../data-source/statement.js';
import type { TableNames } from '../../../table-names.js';

/** Locks runs in id order; answers those that were had. `wait`: the slow lane, under a lock_timeout. $1 run ids. */
export function lockRuns(t: TableNames, wait: boolean): Statement {
  return {
    name: wait ? 'lock-runs-wait' : 'lock-runs',
    text: `SELECT id FROM ${t.runs} WHERE id = ANY ($1::uuid[]) ORDER BY id FOR NO KEY UPDATE ${wait ? '' : 'SKIP LOCKED'}`,
  };
}
