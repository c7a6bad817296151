import type { TransactionManager } from '../../../lib/interfaces/index.js';

/** An EntityManager as calls see it: in an open transaction of this isolation level. */
export const openTransaction = (isolation = 'read committed'): TransactionManager => ({
  queryRunner: { isTransactionActive: true, isReleased: false },
  query: async () => [{ transaction_isolation: isolation }],
});
