import type { HostTransactions, JoinedTransaction } from '../engine/ports/index.js';
import { InvalidStepError, OwnerRequiredError } from '../errors/index.js';
import type { TransactionManager } from '../interfaces/index.js';
import { setOwner } from '../persistence/row-level-security/owner-setting.js';
import type { TransactionOpenerLike } from '../services/transaction/ambient-transactions.js';
import { ConnectionWatch } from './connection-watch.js';
import type { EngineStorage } from './engine-storage.js';

/** The part of TypeORM's query runner that tells whether the transaction is still the one that was begun. */
interface Runner {
  readonly isTransactionActive?: boolean;
  readonly transactionDepth?: number;
  query?(...given: unknown[]): Promise<unknown>;
  rollbackTransaction?(): Promise<void>;
}

/**
 * Transactions on the host's DataSource. Where @nestjs-cls/transactional is set up on it they are opened through that, and
 * so are the ambient ones of whatever the body calls.
 *
 * A body that leaves work behind which it doesn't await could spoil the transaction after the engine's last write, and
 * PostgreSQL answers such a COMMIT with a rollback and no error. So statements are watched from then on, and one that fails makes the
 * commit as uncertain as a lost answer does.
 *
 * `guarded`: under row-level security it is a session of the run's owner before the body's first statement (OWNER-4).
 */
export class OpenedTransactions implements HostTransactions {
  constructor(
    private readonly storage: Pick<EngineStorage, 'inTransaction' | 'owns'>,
    private readonly hosts: () => readonly TransactionOpenerLike[],
    private readonly guarded = false,
  ) {}

  async run<T>(
    owner: string | null,
    work: (manager: unknown, transaction: JoinedTransaction) => Promise<T>,
    what = 'ctx.transaction',
  ): Promise<T> {
    const session = this.guarded ? sessionOf(owner) : undefined;
    let spoilt: { readonly error: unknown } | undefined;
    const connection = new ConnectionWatch();
    const inside = async (manager: TransactionManager): Promise<T> => {
      await session?.(manager);
      let watched = false;
      const query: JoinedTransaction['query'] = async (sql, parameters) => {
        if (!watched) {
          await refuseEnded(manager.queryRunner as Runner | undefined, what, connection);
          watch(manager.queryRunner as Runner | undefined, (error) => (spoilt ??= { error }));
          watched = true;
          // The body may have said another owner since.
          await session?.(manager);
        }
        const rows = await manager.query(sql, parameters);
        // A COMMIT that the body did not await was under way until now: before the next statement of ours, as the first only locks.
        if (connection.ended) throw endedBy(what);
        return rows;
      };
      return work(manager, { query });
    };
    try {
      const answer = await this.#open((manager) => connection.during(manager, () => inside(manager)));
      if (spoilt) throw (spoilt as { readonly error: unknown }).error;
      return answer;
    } catch (error) {
      throw connection.causeOf(error);
    }
  }

  #open<T>(work: (manager: TransactionManager) => Promise<T>): Promise<T> {
    const host = this.hosts().find(({ tx }) => isManager(tx) && this.storage.owns(tx));
    if (!host) return this.storage.inTransaction(work);
    // A new one, also inside another: it commits with the step, and with nothing else.
    return host.withTransaction('REQUIRES_NEW', { isolationLevel: 'READ COMMITTED' }, () =>
      work(host.tx as TransactionManager),
    );
  }
}

/** Says whose session a transaction is. @throws OwnerRequiredError */
function sessionOf(owner: string | null): (manager: TransactionManager) => Promise<unknown> {
  if (owner === null) throw new OwnerRequiredError({ what: 'ctx.transaction' });
  return (manager) => setOwner({ query: (sql, values) => manager.query(sql, values) }, owner);
}

const isManager = (value: unknown): value is TransactionManager => typeof value === 'object' && value !== null;

/** Committed, rolled back or inside a savepoint, the row would not be part of what is committed. */
async function refuseEnded(
  runner: Runner | undefined,
  what: string,
  { ended }: Pick<ConnectionWatch, 'ended'>,
): Promise<void> {
  if (!ended && runner?.isTransactionActive === true && (runner.transactionDepth ?? 1) === 1) return;
  // What is rolled back next would else be the innermost part alone, and the connection go back to its pool with the rest open.
  while ((runner?.transactionDepth ?? 0) > 1) await runner!.rollbackTransaction!();
  throw endedBy(what);
}

function endedBy(what: string): InvalidStepError {
  const message =
    'ended its transaction, or left a part of it open: await all, and leave commit and rollback to the engine, those in SQL too; ' +
    'what it wrote before a COMMIT of its own stands, and is yours to look after';
  return new InvalidStepError({ what, problems: [{ path: 'fn', message }] });
}

function watch(runner: Runner | undefined, onFailure: (error: unknown) => void): void {
  const query = runner?.query;
  if (!runner || !query) return;
  runner.query = async (...given) => {
    try {
      return await query.apply(runner, given);
    } catch (error) {
      onFailure(error);
      throw error;
    }
  };
}
