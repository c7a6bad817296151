import { DataSource } from 'typeorm';
import type { DataSourceOptions } from 'typeorm';
import { Pool } from 'pg';
import type { PoolConfig } from 'pg';
import { createDatabase, dropDatabase } from '../../lib/testing/postgres/test-database.js';
import { registerOpen } from './open-resources.js';

type PostgresOptions = Extract<DataSourceOptions, { type: 'postgres' }>;

export interface FreshDatabase {
  readonly url: string;
  readonly name: string;
  /** For `new DataSource(…)` or `TypeOrmModule.forRoot(…)`. */
  readonly dataSourceOptions: PostgresOptions;
  /** A DataSource that is connected and must be destroyed by the test. */
  openDataSource(options?: Partial<PostgresOptions>): Promise<DataSource>;
  /** A pool that must be ended by the test. */
  openPool(options?: PoolConfig): Pool;
  /** Drops it now; otherwise it goes at the end of the file. */
  drop(): Promise<void>;
}

/** Whether a server on this host knows `tcp_user_timeout`: only Linux does. */
export const LIMITS_SENDING = process.platform === 'linux';

/** URL of the test run's server; its maintenance database. */
export function testServerUrl(): string {
  const url = process.env.WF_TEST_SERVER_URL;
  if (url === undefined) throw new Error('No test server: run the tests through Jest, whose global setup starts it.');
  return url;
}

/**
 * A database of this test file's own, a copy of the template (see `template.ts`).
 *
 * @param options.empty without the template's tables @default false
 */
export async function freshDatabase(options: Readonly<{ empty?: boolean }> = {}): Promise<FreshDatabase> {
  const server = testServerUrl();
  const template = options.empty ? undefined : process.env.WF_TEST_TEMPLATE;
  const url = await createDatabase(server, undefined, template);
  const name = new URL(url).pathname.slice(1);
  const drop = (): Promise<void> => dropDatabase(server, name);
  const closed = registerOpen({ kind: 'database', name, close: drop, automatic: true });
  const dataSourceOptions: PostgresOptions = { type: 'postgres', url };
  return {
    url,
    name,
    dataSourceOptions,
    openDataSource: (extra) => openDataSource({ ...dataSourceOptions, ...extra }, name),
    openPool: (extra) => openPool({ connectionString: url, ...extra }, name),
    drop: async () => {
      await drop();
      closed();
    },
  };
}

async function openDataSource(options: PostgresOptions, name: string): Promise<DataSource> {
  const dataSource = await new DataSource(options).initialize();
  const destroy = dataSource.destroy.bind(dataSource);
  const closed = registerOpen({ kind: 'DataSource on', name, close: destroy });
  dataSource.destroy = async () => {
    await destroy();
    closed();
  };
  return dataSource;
}

function openPool(config: PoolConfig, name: string): Pool {
  const pool = new Pool(config);
  // A test that breaks connections expects it; without a listener the whole process would go.
  pool.on('error', () => undefined);
  const closed = registerOpen({ kind: 'pool on', name, close: () => pool.end() });
  const end = pool.end.bind(pool) as () => Promise<void>;
  pool.end = (async () => {
    await end();
    closed();
  }) as Pool['end'];
  return pool;
}
