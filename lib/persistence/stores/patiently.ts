import { isLockTimeout } from '../database-errors.js';
import type { TransactionOptions } from '../engine-pool.js';

/** One try waits this long for a lock: longer than any transaction of the engine's own takes. */
const LOCK_TIMEOUT_MS = 50;
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 500;

/**
 * Waits for a run's lock without holding a connection meanwhile: a host that keeps a run locked for a while would else take the
 * engine's few connections with a call each, and nothing of anybody's would move; and a host that then needs one of them would wait
 * for itself, which PostgreSQL can't see.
 *
 * @param transact makes one try, whole, in a transaction with these options
 * @param tries how many at most; the last one rejects with the lock's timeout. @default as many as it takes
 */
export async function patiently<T>(
  transact: (options: TransactionOptions) => Promise<T>,
  tries = Infinity,
): Promise<T> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    tries -= 1;
    try {
      return await transact({ lockTimeoutMs: LOCK_TIMEOUT_MS });
    } catch (error) {
      if (!isLockTimeout(error) || tries <= 0) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
