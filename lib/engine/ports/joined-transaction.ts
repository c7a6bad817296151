/**
 * An open transaction of the host that a call takes part in (RUN-1). The store never begins, commits or rolls back here.
 * `query` is `EntityManager.query` in the PostgreSQL store; the in-memory store does not support joining.
 */
export interface JoinedTransaction {
  query(sql: string, parameters?: unknown[]): Promise<unknown>;
}
