import type { DataSource } from 'typeorm';
import { StoreUnavailableError, WorkflowError } from '../errors/index.js';
import type { ResolvedWorkflowOptions } from '../interfaces/resolved-workflow-options.js';
import { isTransientError } from '../persistence/database-errors.js';
import { EnginePool, type EnginePoolOptions } from '../persistence/engine-pool.js';
import { checkMigrations, runMigrations } from '../persistence/migrations/index.js';
import { checkRowLevelSecurity } from '../persistence/row-level-security/boot-check.js';
import { GuardedSessions, type OwnerSessions } from '../persistence/row-level-security/owner-sessions.js';
import type { TableNames } from '../persistence/table-names.js';

type RowLevelSecurity = ResolvedWorkflowOptions['owners']['rowLevelSecurity'];

/** The engine's connections to the host's database, by whom they log in as. */
export interface PostgresLogins {
  /** What the engine does for all owners. */
  readonly engine: EnginePool;
  /** What it does for one, as the host's role; the same pool unless the engine has a login of its own. */
  readonly app: EnginePool;
  /** Undefined without row-level security. */
  readonly sessions: ((names: TableNames) => OwnerSessions) | undefined;
}

/** @throws UnsupportedDatabaseError, InvalidOptionsError, StoreUnavailableError when the database does not answer */
export async function openLogins(
  host: DataSource,
  { owners: { rowLevelSecurity: security }, lease }: Pick<ResolvedWorkflowOptions, 'owners' | 'lease'>,
): Promise<PostgresLogins> {
  const silence = { silenceMs: lease.staleThresholdMs };
  const app = await openPool(host, silence);
  if (security === null) return { engine: app, app, sessions: undefined };
  if (security === 'switch') {
    return { engine: app, app, sessions: (names) => new GuardedSessions({ app, engine: app }, names) };
  }
  try {
    const engine = await openPool(host, { ...silence, login: security.dispatcher });
    return { engine, app, sessions: (names) => new GuardedSessions({ app, engine }, names) };
  } catch (error) {
    await app.close().catch(() => undefined);
    throw error;
  }
}

/**
 * Applies migrations or checks that none is missing, as the options say, then that row-level security holds where it is on. As the
 * host's role: where tables are made, it makes them.
 *
 * @throws MigrationsBehindError, RowPoliciesMissingError, RoleNotRestrictedError, DispatcherDeniedError
 */
export async function prepareTables(
  { engine, app }: PostgresLogins,
  names: TableNames,
  { migrations, owners: { rowLevelSecurity: security } }: Pick<ResolvedWorkflowOptions, 'migrations' | 'owners'>,
): Promise<void> {
  if (migrations === 'run') {
    const rowLevelSecurity = security === null ? undefined : await grantsFor(app, security);
    await runMigrations(app.dataSource, names, { ...(rowLevelSecurity && { rowLevelSecurity }) });
  }
  if (migrations === 'check') await checkMigrations(app.dataSource, names);
  if (security === null) return;
  const dispatcher = await checkRowLevelSecurity({ app, engine }, names);
  if (engine === app) engine.actAs(dispatcher);
}

const WHO = { name: 'who', text: 'SELECT current_user::text AS role' };

async function grantsFor(app: EnginePool, security: NonNullable<RowLevelSecurity>): Promise<{ switchTo?: string }> {
  if (security !== 'switch') return {};
  const [who] = await app.query<{ role: string }>(WHO);
  return { switchTo: who!.role };
}

async function openPool(host: DataSource, options: EnginePoolOptions): Promise<EnginePool> {
  try {
    return await EnginePool.open(host, options);
  } catch (error) {
    if (WorkflowError.is(error) || !isTransientError(error)) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new StoreUnavailableError({ doing: 'the workflow engine started', reason }, { cause: error });
  }
}
