import { DataSource } from 'typeorm';
import type { DataSourceOptions, EntitySchema } from 'typeorm';
import { UnsupportedDatabaseError } from '../../errors/index.js';
import { loginOptions } from './engine-login.js';
import type { EngineLogin } from './engine-login.js';

export type PostgresOptions = Extract<DataSourceOptions, { type: 'postgres' }>;

export const APPLICATION_NAME = 'nestjs-workflow-engine';

/** Ends waits on a connection whose other side is gone without a word (fault K13); statements take milliseconds. */
const QUERY_TIMEOUT_MS = 60_000;
const CONNECT_TIMEOUT_MS = 15_000;
const IDLE_TIMEOUT_MS = 60_000;
const KEEP_ALIVE_AFTER_MS = 10_000;

/** Limits that hosts set for web requests. Under them a migration or a grouped record would be cut off midway. */
const HOST_LIMITS = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'query_timeout'];

export interface EngineDataSourceOptions {
  readonly size: number;
  /** Who logs in, instead of the host. */
  readonly login?: EngineLogin;
  readonly entities: readonly EntitySchema[];
  readonly onPoolError: (error: unknown) => void;
}

/**
 * A DataSource of the engine's own to the host's database: same server, credentials and TLS, but nothing that changes
 * the schema, no query cache, no subscribers, no naming rules, no read replicas (a replica lags behind what was just
 * written), and a pool that the host's work can't drain.
 *
 * @throws UnsupportedDatabaseError unless the host's DataSource is of type `postgres`
 */
export function engineDataSource(
  host: DataSource,
  { size, login, entities, onPoolError }: EngineDataSourceOptions,
): DataSource {
  if (host.options.type !== 'postgres') {
    throw new UnsupportedDatabaseError({ database: host.options.type, needs: 'PostgreSQL 13 or later is needed' });
  }
  const options = login ? loginOptions(host.options, login) : host.options;
  // Left out rather than undefined: TypeORM 0.3 only looks whether `replication` is there. `parseInt8` sets a global of
  // `pg`, as the host's own DataSource has done already.
  const { replication, namingStrategy: _names, entityPrefix: _prefix, parseInt8: _parser, ...inherited } = options;
  return new DataSource({
    ...inherited,
    ...withoutLimitsInUrl(options),
    ...(replication && {
      replication: {
        ...replication,
        master: { ...replication.master, ...withoutLimitsInUrl(replication.master) },
        slaves: [],
      },
    }),
    entities: [...entities],
    migrations: [],
    subscribers: [],
    synchronize: false,
    migrationsRun: false,
    dropSchema: false,
    cache: false,
    installExtensions: false,
    logNotifications: false,
    applicationName: APPLICATION_NAME,
    connectTimeoutMS: options.connectTimeoutMS ?? CONNECT_TIMEOUT_MS,
    poolSize: size,
    poolErrorHandler: onPoolError,
    extra: poolSettings(options, size),
  } as PostgresOptions);
}

function poolSettings(options: PostgresOptions, size: number): Record<string, unknown> {
  const inherited = Object.entries((options.extra ?? {}) as Record<string, unknown>);
  return {
    ...Object.fromEntries(inherited.filter(([name]) => !HOST_LIMITS.includes(name) && name !== 'min')),
    max: size,
    application_name: APPLICATION_NAME,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
  };
}

/** A connection string's own parameters win over everything else in `pg`, so limits are taken out of it. */
function withoutLimitsInUrl({ url }: { readonly url?: string }): { url?: string } {
  if (url === undefined || !HOST_LIMITS.some((name) => url.includes(name)) || !URL.canParse(url)) return {};
  const parsed = new URL(url);
  for (const name of HOST_LIMITS) parsed.searchParams.delete(name);
  return { url: parsed.href };
}
