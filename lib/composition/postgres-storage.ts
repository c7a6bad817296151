import type { DataSource } from 'typeorm';
import type { Hint, JoinedTransaction } from '../engine/ports/index.js';
import type { TransactionManager } from '../interfaces/index.js';
import { encodeHint } from '../persistence/notifier/hint-payload.js';
import { PostgresNotifier } from '../persistence/notifier/postgres-notifier.js';
import { PostgresStore } from '../persistence/stores/postgres-store.js';
import { placeHash, tableNames } from '../persistence/table-names.js';
import type { EngineStorage, OpenStorage, StorageRequest } from './engine-storage.js';
import { findDataSource } from './find-data-source.js';
import { openLogins, prepareTables } from './postgres-logins.js';

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
  const { notify = true, listenUrl } = options.worker ?? {};
  const logins = await openLogins(host, options);
  const { engine, sessions } = logins;
  const notifier = new PostgresNotifier(engine, names, { enabled: notify, ...(listenUrl && { listenUrl }) });
  const channel = `workflow_${placeHash(names)}`;
  return {
    store: new PostgresStore(engine, names, sessions?.(names)),
    notifier,
    prepare: () => prepareTables(logins, names, options),
    announceWithin: async (transaction: JoinedTransaction, hint: Hint) => {
      if (notify) await transaction.query(NOTIFY_WITHIN, [channel, encodeHint(hint)]);
    },
    inTransaction: (work) => host.transaction('READ COMMITTED', work),
    owns: (manager) => dataSourceOf(manager) === host,
  };
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
