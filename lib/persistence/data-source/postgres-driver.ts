import type { DataSource } from 'typeorm';
import { UnsupportedDatabaseError } from '../../errors/index.js';

/** A query result as `pg` answers it. */
export interface PostgresResult {
  readonly rows: unknown[];
  /** The command tag's first word; `ROLLBACK` answers a COMMIT of a transaction in which a statement had failed. */
  readonly command: string;
}

export interface PostgresQuery {
  readonly name?: string;
  readonly text: string;
  readonly values?: unknown[];
  readonly types?: { getTypeParser(oid: number, format?: string): (value: string) => unknown };
}

export interface PostgresNotification {
  readonly channel: string;
  readonly payload?: string;
}

/** What we use of a `pg` Client. */
export interface PostgresClient {
  connect(): Promise<void>;
  query(query: PostgresQuery): Promise<PostgresResult>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  on(event: 'notification', listener: (notification: PostgresNotification) => void): unknown;
  /** While a query runs, breaks the connection instead of waiting for it. */
  end(): Promise<void>;
}

export interface PooledClient extends PostgresClient {
  /** @param destroy close the connection instead of putting it back */
  release(destroy?: boolean): void;
}

/** What we use of a `pg` Pool. `options` holds what connections are made from; its password is not enumerable. */
export interface PostgresPool {
  connect(): Promise<PooledClient>;
  /** Told of each new connection before anything else can happen to it. */
  on(event: 'connect', listener: (client: PooledClient) => void): unknown;
  readonly options: Readonly<Record<string, unknown>>;
  readonly Client: new (options: object) => PostgresClient;
}

/**
 * The `pg` pool inside a connected DataSource: the one place that touches TypeORM's undocumented `driver.master`, seen in
 * TypeORM 0.3.20 to 1.1. Through it url, ssl, passwords and replication are resolved by TypeORM, and `pg` needn't be
 * imported here.
 *
 * @throws UnsupportedDatabaseError when a TypeORM keeps its pool elsewhere: at boot, not at the first claim
 */
export function poolOf(dataSource: DataSource): PostgresPool {
  const pool = (dataSource.driver as { master?: Partial<PostgresPool> }).master;
  if (typeof pool?.connect !== 'function' || typeof pool.options !== 'object' || typeof pool.Client !== 'function') {
    throw new UnsupportedDatabaseError({
      database: dataSource.options.type,
      needs: 'this version of TypeORM or pg keeps its connection pool where the engine cannot find it',
    });
  }
  return pool as PostgresPool;
}

/** A client of its own with the pool's settings, not connected yet, that no query timeout ends. */
export function newClient(pool: PostgresPool, url?: string): PostgresClient {
  const { options } = pool;
  const connection = url === undefined ? {} : { connectionString: url };
  const client = new pool.Client({
    ...options,
    password: options['password'],
    ...connection,
    query_timeout: undefined,
  });
  // Without a listener a broken connection is an uncaught exception (fault G1).
  client.on('error', () => undefined);
  return client;
}
