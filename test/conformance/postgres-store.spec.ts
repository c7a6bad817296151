import type { DataSource } from 'typeorm';
import type { WorkflowStore } from '../../lib/engine/ports/index.js';
import { createPostgresStore, tableNames } from '../../lib/persistence/index.js';
import { describeStore } from '../../lib/testing/conformance/index.js';
import { freshDatabase } from '../support/database.js';

let dataSource: DataSource;
let stores: [WorkflowStore, WorkflowStore];

beforeAll(async () => {
  dataSource = await (await freshDatabase()).openDataSource();
  stores = [await createPostgresStore(dataSource), await createPostgresStore(dataSource)];
});

afterAll(async () => {
  await Promise.all(stores.map((store) => store.close()));
  await dataSource.destroy();
});

describeStore('PostgresStore', async () => {
  await emptyTables();
  const [store, second] = stores;
  store.clockOffsetMs = 0;
  second.clockOffsetMs = 0;
  return { store, second, close: () => undefined };
});

/** Faster than a database for each test. */
async function emptyTables(): Promise<void> {
  const t = tableNames();
  const filled = [t.runs, t.stageRuns, t.nodeVisits, t.attempts, t.jobs, t.idempotencyKeys, t.outbox, t.definitions];
  const more = [t.steps, t.events, t.annotations, t.logLines, t.audit, t.graphs, t.triggers];
  await dataSource.query(`TRUNCATE ${[...filled, ...more].join(', ')} RESTART IDENTITY`);
  await dataSource.query(`UPDATE ${t.outboxSlots} SET locked_by = NULL, locked_until = NULL, heard_at = NULL`);
}
