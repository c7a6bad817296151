import type { TransactionManager } from '../../interfaces/index.js';

/** `TransactionHost` of @nestjs-cls/transactional, told by its shape: the package is an optional peer. */
export interface TransactionHostLike {
  isTransactionActive(): boolean;
  readonly tx: unknown;
}

/** The same, where transactions are opened through it. */
export interface TransactionOpenerLike extends TransactionHostLike {
  withTransaction<T>(
    propagation: 'REQUIRES_NEW',
    options: { readonly isolationLevel: 'READ COMMITTED' },
    fn: () => Promise<T>,
  ): Promise<T>;
}

/**
 * The transaction that the caller's code is in already, by @nestjs-cls/transactional with its TypeORM adapter.
 *
 * Transactions of other libraries, and of another DataSource than the engine's, are none of ours: what is started in them
 * is committed by itself.
 */
export class AmbientTransactions {
  readonly #hosts: () => readonly TransactionHostLike[];
  readonly #isOurs: (manager: TransactionManager) => boolean;

  constructor(hosts: () => readonly TransactionHostLike[], isOurs: (manager: TransactionManager) => boolean) {
    this.#hosts = hosts;
    this.#isOurs = isOurs;
  }

  current(): TransactionManager | undefined {
    for (const host of this.#hosts()) {
      if (!host.isTransactionActive()) continue;
      const manager = host.tx;
      if (looksLikeManager(manager) && this.#isOurs(manager)) return manager;
    }
    return undefined;
  }
}

function looksLikeManager(value: unknown): value is TransactionManager {
  if (typeof value !== 'object' || value === null) return false;
  return typeof (value as TransactionManager).query === 'function' && 'queryRunner' in value;
}
