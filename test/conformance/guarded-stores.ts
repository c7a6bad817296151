import type { DataSource } from 'typeorm';
import type { JoinedTransaction, OwnerScope, WorkflowStore } from '../../lib/engine/ports/index.js';
import { EnginePool, type EnginePoolOptions } from '../../lib/persistence/engine-pool.js';
import { checkRowLevelSecurity } from '../../lib/persistence/row-level-security/boot-check.js';
import {
  GuardedSessions,
  OpenSessions,
  type OwnerSessions,
} from '../../lib/persistence/row-level-security/owner-sessions.js';
import { PostgresStore, tableNames } from '../../lib/persistence/index.js';
import type { CreatedStore } from '../../lib/testing/conformance/index.js';
import { guardedDatabase, type GuardedDatabase } from '../integration/row-level-security/guarded-database.js';

type Query = Parameters<Parameters<OwnerSessions['run']>[1]>[0];

export interface GuardedStores {
  readonly database: GuardedDatabase;
  /** Both, on tables that hold nothing. */
  create(): Promise<CreatedStore>;
  close(): Promise<void>;
}

export interface GuardedStoresOptions {
  /** Where the app's role logs in. @default straight to the server */
  readonly urlOf?: (database: GuardedDatabase) => string | Promise<string>;
  readonly pool?: EnginePoolOptions;
}

/** Two stores of the app's role on one database under row-level security. */
export async function openGuardedStores({ urlOf, pool }: GuardedStoresOptions = {}): Promise<GuardedStores> {
  const database = await guardedDatabase('switching');
  const admin = await database.openDataSource();
  const url = (await urlOf?.(database)) ?? database.urlOf(database.app);
  const app = await database.openDataSource({ url });
  const [store, second] = [await openGuarded(app, pool), await openGuarded(app, pool)];
  return {
    database,
    create: async () => {
      await emptyTables(admin);
      store.clockOffsetMs = 0;
      second.clockOffsetMs = 0;
      return { store, second, close: () => undefined };
    },
    close: async () => {
      await store.close();
      await second.close();
      await app.destroy();
      await admin.destroy();
    },
  };
}

async function openGuarded(app: DataSource, options?: EnginePoolOptions): Promise<WorkflowStore> {
  const names = tableNames();
  const pool = await EnginePool.open(app, options);
  pool.actAs(await checkRowLevelSecurity({ app: pool, engine: pool }, names));
  return new PostgresStore(pool, names, new WithOwnerless(pool));
}

/** The suite has runs of nobody too, which services refuse: they are left to the dispatcher. */
class WithOwnerless implements OwnerSessions {
  readonly guarded = true;
  private readonly open: OpenSessions;
  private readonly held: GuardedSessions;

  constructor(pool: EnginePool) {
    this.open = new OpenSessions(pool);
    this.held = new GuardedSessions({ app: pool, engine: pool }, tableNames());
  }

  run = <T>(scope: OwnerScope, work: (query: Query) => Promise<T>) => this.of(scope).run(scope, work);
  transaction = <T>(scope: OwnerScope, work: (query: Query) => Promise<T>) => this.of(scope).transaction(scope, work);
  within = <T>(scope: OwnerScope, runId: string, given: JoinedTransaction, work: (query: Query) => Promise<T>) =>
    this.of(scope).within(scope, runId, given, work);
  forOwners: OwnerSessions['forOwners'] = (owners, transaction, work) =>
    (owners.includes(null) ? this.open : this.held).forOwners(owners, transaction, work);
  close = () => this.held.close();

  private of(scope: OwnerScope): OwnerSessions {
    return 'owner' in scope && scope.owner === null ? this.open : this.held;
  }
}

async function emptyTables(admin: DataSource): Promise<void> {
  const t = tableNames();
  const filled = [t.runs, t.stageRuns, t.nodeVisits, t.attempts, t.jobs, t.idempotencyKeys, t.outbox, t.definitions];
  const more = [t.steps, t.events, t.annotations, t.logLines, t.audit, t.startRates, t.graphs, t.triggers];
  const emptied = [...filled, ...more].map((table) => `DELETE FROM ${table}`);
  // Faster than TRUNCATE where there is next to nothing in them.
  await admin.query(emptied.join('; '));
  await admin.query(`UPDATE ${t.outboxSlots} SET locked_by = NULL, locked_until = NULL, heard_at = NULL`);
}
