import { MigrationsBehindError } from '../../errors/index.js';
import { qualified, TABLES } from '../table-names.js';
import type { TableNames } from '../table-names.js';
import { inMigrationTransaction } from './migration-connection.js';
import type { MigrationQuery, MigrationTarget } from './migration-connection.js';
import { MIGRATIONS } from './migration-list.js';
import {
  grantStatements,
  LOCK_MIGRATIONS,
  migrationBlock,
  policyStatements,
  versionTableExists,
} from './migration-sql.js';
import type { PolicyGrants } from '../row-level-security/policy-block.js';
import { readUnguarded } from '../row-level-security/policy-state.js';

export interface RunMigrationsOptions {
  /** A role that is granted the rows of the tables, for apps that don't own them. */
  readonly grantTo?: string;
  /** Row-level security on all tables, with what roles are granted for it. @default none */
  readonly rowLevelSecurity?: PolicyGrants;
}

/** What stands for the policies in lists of what was applied, or is pending. */
const ROW_LEVEL_SECURITY = 'row-level security';

/**
 * Brings the tables up to date, all or nothing, and returns the names of what it applied.
 *
 * Safe to call from any number of processes at once, on an empty database too: they wait for each other. Needs the right
 * to create tables (and the schema, when it isn't there) only if something is pending.
 */
export async function runMigrations(
  target: MigrationTarget,
  names: TableNames,
  { grantTo, rowLevelSecurity }: RunMigrationsOptions = {},
): Promise<string[]> {
  return inMigrationTransaction(target, async (query) => {
    let pending = await readPending(query, names);
    if (pending.length > 0) {
      // A host's limits are meant for its requests; here one waits for other processes, or for an index.
      await query('SET LOCAL statement_timeout = 0');
      await query(LOCK_MIGRATIONS);
      // Another process may have done it meanwhile.
      pending = await readPending(query, names);
    }
    for (const migration of pending) await query(migrationBlock(migration, names));
    if (grantTo !== undefined) for (const grant of grantStatements(names, grantTo)) await query(grant);
    const guarded = rowLevelSecurity ? await guard(query, names, rowLevelSecurity) : false;
    return [...pending.map(nameOf), ...(guarded ? [ROW_LEVEL_SECURITY] : [])];
  });
}

/**
 * Whether the policies had to be written. Where all stand and nobody is to be granted anything nothing is asked of the role: an app
 * that runs its migrations at boot may have lost, by then, the right to make roles.
 */
async function guard(query: MigrationQuery, names: TableNames, grants: PolicyGrants): Promise<boolean> {
  const unguarded = await readUnguarded(query, names);
  const granted = grants.rowsTo !== undefined || grants.dispatcherTo !== undefined;
  if (unguarded.length === 0 && !granted) return false;
  await query('SET LOCAL statement_timeout = 0');
  for (const statement of policyStatements(names, grants)) await query(statement);
  return unguarded.length > 0;
}

/**
 * What is missing, in words: migrations not applied yet, tables somebody dropped, and, where it is asked for, row-level security.
 * Empty when all is well.
 */
export async function pendingMigrations(
  target: MigrationTarget,
  names: TableNames,
  { rowLevelSecurity = false }: { readonly rowLevelSecurity?: boolean } = {},
): Promise<string[]> {
  return inMigrationTransaction(target, async (query) => {
    const pending = (await readPending(query, names)).map(nameOf);
    const missing = pending.length > 0 ? [] : await readMissingTables(query, names);
    const unguarded = rowLevelSecurity ? await readUnguarded(query, names) : [];
    return [
      ...pending,
      ...missing.map((table) => `table ${table}`),
      ...unguarded.map((table) => `${ROW_LEVEL_SECURITY} of ${table}`),
    ];
  });
}

/**
 * The boot check: needs no more than to read `schema_versions`. Tables newer than this package are fine, since
 * migrations only add.
 *
 * @throws MigrationsBehindError naming what is missing and the command that mends it
 */
export async function checkMigrations(target: MigrationTarget, names: TableNames): Promise<void> {
  const pending = await pendingMigrations(target, names);
  if (pending.length > 0) throw new MigrationsBehindError({ pending, schema: names.schema });
}

async function readPending(query: MigrationQuery, names: TableNames): Promise<typeof MIGRATIONS> {
  const [found] = (await query(`SELECT ${versionTableExists(names)} AS yes`)) as { yes: unknown }[];
  if (found?.yes !== true) return MIGRATIONS;
  const rows = (await query(`SELECT version FROM ${names.schemaVersions}`)) as { version: unknown }[];
  const applied = new Set(rows.map(({ version }) => Number(version)));
  return MIGRATIONS.filter(({ version }) => !applied.has(version));
}

async function readMissingTables(query: MigrationQuery, { schema, prefix }: TableNames): Promise<string[]> {
  const tables = TABLES.map((table) => qualified(schema, `${prefix}${table}`));
  const rows = await query('SELECT name FROM unnest($1::text[]) AS name WHERE to_regclass(name) IS NULL', [tables]);
  return (rows as { name: string }[]).map(({ name }) => name);
}

function nameOf({ version, name }: { readonly version: number; readonly name: string }): string {
  return `${String(version).padStart(3, '0')}-${name}`;
}
