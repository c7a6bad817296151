import type { DataSource } from 'typeorm';
import type { WorkflowStore } from '../engine/ports/index.js';
import { EnginePool, type EnginePoolOptions } from './engine-pool.js';
import { PostgresStore } from './stores/postgres-store.js';
import { tableNames, type TablePlace } from './table-names.js';

export { PostgresStore } from './stores/postgres-store.js';
export { EnginePool } from './engine-pool.js';
export { tableNames } from './table-names.js';

/** Opens the store beside a host's DataSource, with connections of its own. Tables must exist: see `migrations/`. */
export async function createPostgresStore(
  host: DataSource,
  place: TablePlace = {},
  options: EnginePoolOptions = {},
): Promise<WorkflowStore> {
  return new PostgresStore(await EnginePool.open(host, options), tableNames(place));
}
