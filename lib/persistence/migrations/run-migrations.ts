import { MigrationsBehindError } from '../../errors/index.js';
import { qualified, TABLES } from '../table-names.js';
import type { TableNames } from '../table-names.js';
import { inMigrationTransaction } from './migration-connection.js';
import type { MigrationQuery, MigrationTarget } from './migration-connection.js';
import { MIGRATIONS } from './migration-list.js';
import { grantStatements, LOCK_MIGRATIONS, migrationBlock, versionTableExists } from './migration-sql.js';

export interface RunMigrationsOptions {
  /** A role that is granted the rows of the tables, for apps that don't own them. */
  readonly grantTo?: string;
}

/**
 * Brings the tables up to date, all or nothing, and returns the names of what it applied.
 *
 * Safe to call from any number of processes at once, on an empty database too: they wait for each other. Needs the right
 * to create tables (and the schema, when it isn't there) only if something is pending.
 */
export async function runMigrations(
  target: MigrationTarget,
  names: TableNames,
  { grantTo }: RunMigrationsOptions = {},
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
    return pending.map(nameOf);
  });
}

/** What is missing, in words: migrations not applied yet, and tables somebody dropped. Empty when all is well. */
export async function pendingMigrations(target: MigrationTarget, names: TableNames): Promise<string[]> {
  return inMigrationTransaction(target, async (query) => {
    const pending = (await readPending(query, names)).map(nameOf);
    return pending.length > 0 ? pending : (await readMissingTables(query, names)).map((table) => `table ${table}`);
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
