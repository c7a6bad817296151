import type { TransactionQuery } from '../engine-pool.js';

const SET_LOCK_TIMEOUT = { name: 'set-lock-timeout', text: `SELECT set_config('lock_timeout', $1, true)` };

/** For the rest of the transaction a lock is waited for this long, then error 55P03. */
export async function setLockTimeout(query: TransactionQuery, lockTimeoutMs: number): Promise<void> {
  await query(SET_LOCK_TIMEOUT, [`${Math.max(1, Math.round(lockTimeoutMs))}ms`]);
}
