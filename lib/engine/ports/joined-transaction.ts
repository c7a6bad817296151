/**
 * An open transaction of the host that a call takes part in (RUN-1). The store never begins, commits or rolls back here.
 * `query` is `EntityManager.query` in the PostgreSQL store; the in-memory store does not support joining.
 */
export interface JoinedTransaction {
  /** The connection that it is on, whatever stands for it: calls that have to follow each other on one know it by this. */
  readonly session?: object;
  query(sql: string, parameters?: unknown[]): Promise<unknown>;
}

/** Opens transactions on the host's own DataSource, for bodies of stages (TX-3). */
export interface HostTransactions {
  /**
   * Runs `work` in a READ COMMITTED transaction: commits when it resolves, rolls back when it rejects. `manager` is the
   * host's EntityManager of it, which the engine hands on and never looks at. Under row-level security it is a session of `owner`.
   *
   * `what` names the call in errors. @default 'ctx.transaction'
   *
   * Rejects with what `work` rejected with, after the rollback; else with what BEGIN or COMMIT failed with. After the latter
   * whether it was committed has to be read.
   */
  run<T>(
    owner: string | null,
    work: (manager: unknown, transaction: JoinedTransaction) => Promise<T>,
    what?: string,
  ): Promise<T>;
}
