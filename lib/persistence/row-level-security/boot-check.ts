import { DispatcherDeniedError, RoleNotRestrictedError, RowPoliciesMissingError } from '../../errors/index.js';
import type { EnginePool } from '../engine-pool.js';
import { inMigrationTransaction } from '../migrations/migration-connection.js';
import type { MigrationQuery } from '../migrations/migration-connection.js';
import type { TableNames } from '../table-names.js';
import { readDispatcher, readUnguarded } from './policy-state.js';
import { guardedTables, OWNER_SETTING } from './row-policies.js';

export interface GuardedLogins {
  /** Connections of the app's role: what is done for one owner. */
  readonly app: EnginePool;
  /** Connections of the engine's login; the same ones where the app's role switches. */
  readonly engine: EnginePool;
}

/**
 * Proves before anything moves that row-level security holds, and that the engine sees past it (OWNER-4). Answers the dispatcher's
 * role.
 *
 * @throws RowPoliciesMissingError, RoleNotRestrictedError, DispatcherDeniedError, each with what to do
 */
export async function checkRowLevelSecurity({ app, engine }: GuardedLogins, names: TableNames): Promise<string> {
  const dispatcher = await inMigrationTransaction(app, async (query) => {
    const unguarded = await readUnguarded(query, names);
    const found = await readDispatcher(query, names);
    if (unguarded.length > 0 || found === undefined) throw new RowPoliciesMissingError({ tables: unguarded });
    await refuseExempt(query, found);
    await refuseSighted(query, names);
    return found;
  });
  await inMigrationTransaction(engine, (query) =>
    engine === app ? trySwitch(query, dispatcher) : refuseBlind(query, dispatcher),
  );
  return dispatcher;
}

interface RoleFacts {
  role: string;
  superuser: boolean;
  bypasses: boolean;
  inherits: boolean;
}

async function readRole(query: MigrationQuery, dispatcher: string): Promise<RoleFacts> {
  const [facts] = await query(
    `SELECT rolname::text AS role, rolsuper AS superuser, rolbypassrls AS bypasses, pg_has_role(current_user, $1, 'USAGE') AS inherits
       FROM pg_catalog.pg_roles WHERE rolname = current_user`,
    [dispatcher],
  );
  return facts as RoleFacts;
}

async function refuseExempt(query: MigrationQuery, dispatcher: string): Promise<void> {
  const { role, superuser, bypasses, inherits } = await readRole(query, dispatcher);
  if (superuser) throw new RoleNotRestrictedError({ role, why: 'is a superuser' });
  if (bypasses) throw new RoleNotRestrictedError({ role, why: 'has BYPASSRLS' });
  if (inherits) throw new RoleNotRestrictedError({ role, why: `inherits what "${dispatcher}" may` });
}

/** A policy of somebody else's that allows more shows here, as soon as there is a row. */
async function refuseSighted(query: MigrationQuery, names: TableNames): Promise<void> {
  const owned = guardedTables(names).filter(({ kind }) => kind === 'owner');
  const [{ role } = { role: '' }] = (await query(
    `SELECT current_user::text AS role, set_config('${OWNER_SETTING}', '', true)`,
  )) as { role: string }[];
  const looks = owned.map(({ name }) => `SELECT '${name}' AS name WHERE EXISTS (SELECT 1 FROM ${name})`);
  const seen = (await query(looks.join(' UNION ALL '))) as { name: string }[];
  if (seen.length === 0) return;
  const why = `sees rows of ${seen.map(({ name }) => name).join(', ')} without an owner, so there is another policy`;
  throw new RoleNotRestrictedError({ role, why });
}

async function trySwitch(query: MigrationQuery, dispatcher: string): Promise<void> {
  const { role } = await readRole(query, dispatcher);
  try {
    await query(`SET LOCAL ROLE "${dispatcher}"`);
  } catch (error) {
    const cure = `npx nestjs-workflow-engine migrate --row-level-security --grant ${role}`;
    throw new DispatcherDeniedError({ role, dispatcher, cure }, { cause: error });
  }
}

async function refuseBlind(query: MigrationQuery, dispatcher: string): Promise<void> {
  const { role, superuser, bypasses, inherits } = await readRole(query, dispatcher);
  if (superuser || bypasses || inherits) return;
  throw new DispatcherDeniedError({ role, dispatcher, cure: `GRANT "${dispatcher}" TO "${role}"` });
}
