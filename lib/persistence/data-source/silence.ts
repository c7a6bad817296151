/**
 * How long a transaction that holds runs may hear nothing from its process before the server ends it. Engine statements follow each other
 * within milliseconds, so whoever is silent for so long is gone, or has stood still for longer than its work can wait.
 */
export const LONGEST_SILENCE_MS = 30_000;

/** After how long the server ends a transaction of the engine whose process does nothing any more. */
export interface SilenceLimits {
  /** The next statement does not come (`idle_in_transaction_session_timeout`). */
  readonly idleMs: number;
  /**
   * The answer to the last one is not taken (`tcp_user_timeout`): no other limit of PostgreSQL's ends a send that stands still,
   * and its locks are held as long as it does. 0: it can't be limited, over a Unix socket or by a server that is not on Linux.
   */
  readonly sendMs: number;
}

/** What a server says about its own limits, in ms; 0 is none. */
export interface FoundLimits {
  readonly idle: number;
  readonly send: number;
  /** What became of a `tcp_user_timeout` that was tried: 0 where there is none. */
  readonly tried: number;
}

/**
 * Columns named as `FoundLimits` names them. Not what is in force in this very session: behind PgBouncer another client may have
 * left that there. What a session begins with is what the role, the database or the server says.
 */
export const FOUND_LIMITS = `
  (SELECT reset_val::float8 FROM pg_settings WHERE name = 'idle_in_transaction_session_timeout') AS "idle",
  (SELECT reset_val::float8 FROM pg_settings WHERE name = 'tcp_user_timeout') AS "send",
  (SELECT set_config(name, '${LONGEST_SILENCE_MS}', true)::float8 FROM pg_settings WHERE name = 'tcp_user_timeout') AS "tried"`;

/** Never longer than what somebody has set for the role, the database or the server. @param afterMs at most 30 s */
export function silenceLimits(afterMs: number, { idle, send, tried }: FoundLimits): SilenceLimits {
  const wanted = Math.max(1, Math.min(Math.round(afterMs), LONGEST_SILENCE_MS));
  const shorter = (found: number): number => (found > 0 ? Math.min(found, wanted) : wanted);
  return { idleMs: shorter(idle), sendMs: tried > 0 ? shorter(send) : 0 };
}

/** What puts them in force until the end of a transaction. */
export function silenceSettings({ idleMs, sendMs }: SilenceLimits): string[] {
  return [
    `SET LOCAL idle_in_transaction_session_timeout = ${idleMs}`,
    ...(sendMs > 0 ? [`SET LOCAL tcp_user_timeout = ${sendMs}`] : []),
  ];
}

/**
 * A condition that always holds, and limits the sending of its statement's own answer: for one that locks rows, answers much
 * and is a transaction by itself. Evaluated once, without a round trip. @param sendMs the parameter that holds `SilenceLimits.sendMs`
 */
export const sentInTime = (sendMs: string): string =>
  `(SELECT set_config('tcp_user_timeout', ${sendMs}::text, true)) IS NOT NULL`;
