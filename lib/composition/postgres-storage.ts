import type { DataSource } from 'typeorm';
import type { Hint, JoinedTransaction } from '../engine/ports/index.js';
import { StoreUnavailableError, WorkflowError } from '../errors/index.js';
import type { TransactionManager } from '../interfaces/index.js';
import { EnginePool } from '../persistence/engine-pool.js';
import { isTransientError } from '../persistence/database-errors.js';
import { checkMigrations, runMigrations } from '../persistence/migrations/index.js';
import { encodeHint } from '../persistence/notifier/hint-payload.js';
import { PostgresNotifier } from '../persistence/notifier/postgres-notifier.js';
import { PostgresStore } from '../persistence/stores/postgres-store.js';
import { placeHash, tableNames } from '../persistence/table-names.js';
import type { EngineStorage, OpenStorage, StorageRequest } from './engine-storage.js';
import { findDataSource } from './find-data-source.js';

const NOTIFY_WITHIN = 'SELECT pg_notify($1::text, payload) FROM unnest($2::text[]) AS payload';

/**
 * Opens the PostgreSQL store beside the host's DataSource, on connections of its own.
 *
 * @throws DataSourceNotFoundError, UnsupportedDatabaseError, StoreUnavailableError when the database does not answer: the
 * next call tries again
 */
export const openPostgresStorage: OpenStorage = async (request: StorageRequest) => {
  return postgresStorageOn(findDataSource(request), request.options);
};

/** The same for a DataSource at hand, which need not be initialised: its options are what counts. */
export async function postgresStorageOn(host: DataSource, options: StorageRequest['options']): Promise<EngineStorage> {
  const names = tableNames({ schema: options.schema ?? schemaOf(host), prefix: options.tablePrefix });
  const notify = options.worker?.notify ?? true;
  const pool = await openPool(host);
  const notifier = new PostgresNotifier(pool, names, { enabled: notify });
  const channel = `workflow_${placeHash(names)}`;
  return {
    store: new PostgresStore(pool, names),
    notifier,
    prepare: async () => {
      if (options.migrations === 'run') await runMigrations(pool.dataSource, names);
      if (options.migrations === 'check') await checkMigrations(pool.dataSource, names);
    },
    announceWithin: async (transaction: JoinedTransaction, hint: Hint) => {
      if (notify) await transaction.query(NOTIFY_WITHIN, [channel, encodeHint(hint)]);
    },
    inTransaction: (work) => host.transaction('READ COMMITTED', work),
    owns: (manager) => dataSourceOf(manager) === host,
  };
}

async function openPool(host: DataSource): Promise<EnginePool> {
  try {
    return await EnginePool.open(host);
  } catch (error) {
    if (WorkflowError.is(error) || !isTransientError(error)) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new StoreUnavailableError({ doing: 'the workflow engine started', reason }, { cause: error });
  }
}

/** The schema that TypeORM puts the host's own tables in, where it names one. */
function schemaOf(host: DataSource): string | undefined {
  const { schema } = host.options as { schema?: string };
  return schema === undefined || schema === '' ? undefined : schema;
}

/** `connection` until TypeORM 0.3, `dataSource` since. */
function dataSourceOf(manager: TransactionManager): unknown {
  const { connection, dataSource } = manager as { connection?: unknown; dataSource?: unknown };
  return dataSource ?? connection;
}
