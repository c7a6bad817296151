import type { DataSource } from 'typeorm';
import type { JoinedTransaction, OwnerScope, WorkflowStore } from '../../lib/engine/ports/index.js';
import { EnginePool } from '../../lib/persistence/engine-pool.js';
import { checkRowLevelSecurity } from '../../lib/persistence/row-level-security/boot-check.js';
import {
  GuardedSessions,
  OpenSessions,
  type OwnerSessions,
} from '../../lib/persistence/row-level-security/owner-sessions.js';
import { PostgresStore, tableNames } from '../../lib/persistence/index.js';
import { describeStore } from '../../lib/testing/conformance/index.js';
import { guardedDatabase, openAs, type GuardedDatabase } from '../integration/row-level-security/guarded-database.js';

type Query = Parameters<Parameters<OwnerSessions['run']>[1]>[0];

let database: GuardedDatabase;
let admin: DataSource;
let app: DataSource;
let stores: WorkflowStore[];

beforeAll(async () => {
  database = await guardedDatabase('switching');
  admin = await database.openDataSource();
  app = await openAs(database, database.app);
  stores = [await openGuarded(), await openGuarded()];
});

afterAll(async () => {
  await Promise.all(stores.map((store) => store.close()));
  await app.destroy();
  await admin.destroy();
  await database.dropAll();
});

// OWNER-4: what holds of the store holds under row-level security, the app's role being held by it.
describeStore('PostgresStore under row-level security', async () => {
  await emptyTables();
  const [store, second] = stores as [WorkflowStore, WorkflowStore];
  store.clockOffsetMs = 0;
  second.clockOffsetMs = 0;
  return { store, second, close: () => undefined };
});

async function openGuarded(): Promise<WorkflowStore> {
  const names = tableNames();
  const pool = await EnginePool.open(app);
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

async function emptyTables(): Promise<void> {
  const t = tableNames();
  const filled = [t.runs, t.stageRuns, t.nodeVisits, t.attempts, t.jobs, t.idempotencyKeys, t.outbox, t.definitions];
  const more = [t.steps, t.events, t.annotations, t.logLines, t.audit, t.startRates, t.graphs, t.triggers];
  const emptied = [...filled, ...more].map((table) => `DELETE FROM ${table}`);
  // Faster than TRUNCATE where there is next to nothing in them.
  await admin.query(emptied.join('; '));
  await admin.query(`UPDATE ${t.outboxSlots} SET locked_by = NULL, locked_until = NULL, heard_at = NULL`);
}
