import type { JoinedTransaction, OwnerScope } from '../../engine/ports/index.js';
import { OwnerRequiredError } from '../../errors/index.js';
import type { EnginePool, TransactionQuery } from '../engine-pool.js';
import { joined } from '../stores/joined.js';
import { patiently } from '../stores/patiently.js';
import type { TableNames } from '../table-names.js';
import { ownedBy, SET_OWNER } from './owner-setting.js';
import { inTurn } from './turns.js';

type Work<T> = (query: TransactionQuery) => Promise<T>;

/**
 * Where statements run that are about one scope: what people and bodies ask for, in contrast to what the engine does for all
 * owners at once.
 */
export interface OwnerSessions {
  /** Whether a session sees the rows of one owner only. */
  readonly guarded: boolean;
  /** Statements that need not be one transaction. */
  run<T>(scope: OwnerScope, work: Work<T>): Promise<T>;
  /**
   * One transaction, tried again while somebody holds a lock that it needs: `work` may be called more than once.
   *
   * @param tries how many at most; the last one rejects with the lock's timeout. @default as many as it takes
   */
  transaction<T>(scope: OwnerScope, work: Work<T>, tries?: number): Promise<T>;
  /** Inside the host's transaction, which is left as it was. @param runId the run that they are about */
  within<T>(scope: OwnerScope, runId: string, transaction: JoinedTransaction, work: Work<T>): Promise<T>;
  /**
   * What is written for several owners in one transaction, of ours or the host's: `work` is called with the owners that one session
   * may write for, and answers in the order of the calls.
   */
  forOwners<T>(
    owners: readonly (string | null)[],
    transaction: JoinedTransaction | undefined,
    work: (query: TransactionQuery, owners: readonly (string | null)[]) => Promise<T>,
  ): Promise<T[]>;
  close(): Promise<void>;
}

/** Without row-level security: the statements narrow themselves down. */
export class OpenSessions implements OwnerSessions {
  readonly guarded = false;

  constructor(private readonly pool: EnginePool) {}

  run<T>(_scope: OwnerScope, work: Work<T>): Promise<T> {
    return work((statement, values) => this.pool.query(statement, values));
  }

  transaction<T>(_scope: OwnerScope, work: Work<T>, tries?: number): Promise<T> {
    return patiently((options) => this.pool.transaction(work, options), tries);
  }

  within<T>(_scope: OwnerScope, _runId: string, transaction: JoinedTransaction, work: Work<T>): Promise<T> {
    return work(joined(transaction));
  }

  async forOwners<T>(
    owners: readonly (string | null)[],
    transaction: JoinedTransaction | undefined,
    work: (query: TransactionQuery, owners: readonly (string | null)[]) => Promise<T>,
  ): Promise<T[]> {
    const query: TransactionQuery = transaction
      ? joined(transaction)
      : (statement, values) => this.pool.query(statement, values);
    return [await work(query, owners)];
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

export interface GuardedConnections {
  /** Of the app's role, which the policies hold. */
  readonly app: EnginePool;
  /** Works as the dispatcher, who sees all rows. May be the same pool. */
  readonly engine: EnginePool;
}

/**
 * With row-level security: one owner's statements run on the app's role in transactions that say whose they are, so that the policies
 * hold even where a condition of ours is wrong. Operators', which are about all owners, run as the dispatcher.
 *
 * In the host's transaction we are what the host is: whose it was is said again before the call returns, also when it failed, unless
 * the transaction is dead and will be rolled back. Calls that share one connection wait for each other: each would else write
 * under the owner of another.
 */
export class GuardedSessions implements OwnerSessions {
  readonly guarded = true;
  private readonly ownerOf: { readonly name: string; readonly text: string };

  constructor(
    private readonly connections: GuardedConnections,
    { runs }: TableNames,
  ) {
    this.ownerOf = { name: 'owner-of-run', text: `SELECT owner_id FROM ${runs} WHERE id = $1::uuid` };
  }

  run<T>(scope: OwnerScope, work: Work<T>): Promise<T> {
    // An operator's statements need no transaction around them all.
    if ('all' in scope) return work((statement, values) => this.connections.engine.query(statement, values));
    return this.transaction(scope, work);
  }

  async transaction<T>(scope: OwnerScope, work: Work<T>, tries?: number): Promise<T> {
    const { app, engine } = this.connections;
    if ('all' in scope) return patiently((options) => engine.transaction(work, options), tries);
    const owner = required(scope.owner);
    return patiently((options) => app.transactionOf(owner, work, options), tries);
  }

  async within<T>(scope: OwnerScope, runId: string, transaction: JoinedTransaction, work: Work<T>): Promise<T> {
    return inTurn(transaction.session, async () => {
      const owner = 'all' in scope ? await this.readOwner(runId) : required(scope.owner);
      // Unknown to all others: a run of this very transaction, or none. Whose session it is decides.
      return owner === undefined ? work(joined(transaction)) : as(owner, transaction, work);
    });
  }

  async forOwners<T>(
    owners: readonly (string | null)[],
    transaction: JoinedTransaction | undefined,
    work: (query: TransactionQuery, owners: readonly (string | null)[]) => Promise<T>,
  ): Promise<T[]> {
    // Always in the same order, so that two calls for the same owners can't wait for each other in a circle.
    const each = [...new Set(owners.map(required))].sort();
    if (transaction) {
      return inTurn(transaction.session, () =>
        inOrder(each, (owner) => as(owner, transaction, (query) => work(query, [owner]))),
      );
    }
    return this.connections.app.transactionOf(each[0]!, (query) =>
      inOrder(each, async (owner) => {
        if (owner !== each[0]) await query(SET_OWNER, [owner]);
        return work(query, [owner]);
      }),
    );
  }

  async close(): Promise<void> {
    if (this.connections.app !== this.connections.engine) await this.connections.app.close();
  }

  private async readOwner(runId: string): Promise<string | undefined> {
    const [row] = await this.connections.engine.query<{ owner_id: string | null }>(this.ownerOf, [runId]);
    return row && required(row.owner_id);
  }
}

/** Services have refused it before; this is the last door. */
function required(owner: string | null): string {
  if (owner === null || owner === '') throw new OwnerRequiredError({ what: 'The run' });
  return owner;
}

const as = <T>(owner: string, transaction: JoinedTransaction, work: Work<T>): Promise<T> =>
  ownedBy(transaction, owner, () => work(joined(transaction)));

async function inOrder<T>(owners: readonly string[], work: (owner: string) => Promise<T>): Promise<T[]> {
  const answers: T[] = [];
  for (const owner of owners) answers.push(await work(owner));
  return answers;
}
