import type { JoinedTransaction } from '../../engine/ports/index.js';
import type { Statement } from '../data-source/statement.js';
import type { TransactionQuery } from '../engine-pool.js';

/** The host's transaction as the store's own are used. Unnamed: prepared statements are for connections of ours. */
export function joined(transaction: JoinedTransaction): TransactionQuery {
  return async <Row>(statement: Statement, values: unknown[] = []) =>
    (await transaction.query(statement.text, values)) as Row[];
}
