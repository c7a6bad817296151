import type { JoinedTransaction } from '../../engine/ports/index.js';
import { InvalidOptionsError, TransactionRequiredError } from '../../errors/index.js';
import type { TransactionManager } from '../../interfaces/index.js';
import type { AmbientTransactions } from './ambient-transactions.js';

export interface JoinRequest {
  /** The call, for the error. */
  readonly method: string;
  readonly manager?: TransactionManager;
  /** The call decides by what others committed: a snapshot taken before their commit would lose a wake-up. */
  readonly needsReadCommitted: boolean;
}

/**
 * Finds the transaction of the host that a call takes part in, and refuses those in which it can't (RUN-1). Refused
 * before anything is written.
 */
export class TransactionJoiner {
  readonly #ambient: AmbientTransactions;

  constructor(ambient: AmbientTransactions) {
    this.#ambient = ambient;
  }

  /**
   * The given manager's transaction, else the ambient one, else undefined: the call commits by itself.
   *
   * @throws TransactionRequiredError ROOT_MANAGER when the manager is in no open transaction, ISOLATION_LEVEL when the
   * transaction is too strict for this call
   */
  async join({ method, manager, needsReadCommitted }: JoinRequest): Promise<JoinedTransaction | undefined> {
    const found = manager ?? this.#ambient.current();
    if (found === undefined) return undefined;
    if (typeof (found as Partial<TransactionManager> | null)?.query !== 'function') {
      throw new InvalidOptionsError({
        where: method,
        problems: [{ path: 'manager', message: 'must be a TypeORM EntityManager' }],
      });
    }
    if (!isInTransaction(found)) throw new TransactionRequiredError({ code: 'ROOT_MANAGER', method });
    const transaction: JoinedTransaction = {
      session: found.queryRunner as object,
      query: (sql, parameters) => found.query(sql, parameters),
    };
    if (needsReadCommitted) await refuseStricter(transaction, method);
    return transaction;
  }

  /** Whether a call made here would be part of an open transaction. */
  isInside(manager?: TransactionManager): boolean {
    return (manager ?? this.#ambient.current()) !== undefined;
  }
}

function isInTransaction({ queryRunner }: TransactionManager): boolean {
  const runner = queryRunner as { isTransactionActive?: boolean; isReleased?: boolean } | null | undefined;
  return runner?.isTransactionActive === true && runner.isReleased !== true;
}

const LENIENT = new Set(['read committed', 'read uncommitted']);

async function refuseStricter(transaction: JoinedTransaction, method: string): Promise<void> {
  const rows = (await transaction.query('SHOW transaction_isolation')) as { transaction_isolation?: string }[];
  const isolation = rows[0]?.transaction_isolation ?? 'of an unknown isolation level';
  if (LENIENT.has(isolation)) return;
  const hint = "dataSource.transaction('READ COMMITTED', …), or no manager at all";
  throw new TransactionRequiredError({ code: 'ISOLATION_LEVEL', method, isolation: isolation.toUpperCase(), hint });
}
