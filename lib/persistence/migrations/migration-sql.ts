import { qualified, TABLES } from '../table-names.js';
import type { TableNames } from '../table-names.js';
import { ownedRowGrants, policyBlock } from '../row-level-security/policy-block.js';
import type { PolicyGrants } from '../row-level-security/policy-block.js';
import { MIGRATIONS } from './migration-list.js';
import type { WorkflowMigration } from './workflow-migration.js';

/** One number for all schemas and prefixes of a database: two engines may be creating the same schema. */
const ADVISORY_LOCK = '7236415980124377';

/** Waits for others who migrate; until the end of the transaction they wait for us. */
export const LOCK_MIGRATIONS = `SELECT pg_advisory_xact_lock(${ADVISORY_LOCK})`;

/**
 * Whether the version table is there, as an SQL expression.
 *
 * Asked of the catalog's rows: `to_regclass` answers from a cache, which still says "no" to a process that has asked
 * before and then waited for the one that created it.
 */
export function versionTableExists({ schema, prefix }: TableNames): string {
  const inSchema = schema === undefined ? 'ANY (current_schemas(false))' : `'${schema}'`;
  return `EXISTS (SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relname = '${prefix}schema_versions' AND n.nspname = ${inSchema})`;
}

/**
 * A migration as one block that may run any number of times, in any number of processes at once (fault G8): it waits
 * for the others, then does nothing if its version is there. The lock ends with the transaction.
 *
 * Schema and version table are looked for before they are created, since even `IF NOT EXISTS` asks for the right to create.
 */
export function migrationBlock(migration: WorkflowMigration, names: TableNames): string {
  const { schema, schemaVersions } = names;
  const createSchema =
    schema === undefined
      ? ''
      : `
IF NOT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = '${schema}') THEN
CREATE SCHEMA "${schema}";
END IF;`;
  const statements = migration.statements(names).map((statement) => `${statement};`);
  return `DO $workflow$
BEGIN
PERFORM pg_advisory_xact_lock(${ADVISORY_LOCK});${createSchema}
IF NOT ${versionTableExists(names)} THEN
CREATE TABLE ${schemaVersions} (
  version int PRIMARY KEY,
  name text NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT now()
);
END IF;
IF EXISTS (SELECT FROM ${schemaVersions} WHERE version = ${migration.version}) THEN
RETURN;
END IF;
${statements.join('\n')}
INSERT INTO ${schemaVersions} (version, name) VALUES (${migration.version}, '${migration.name}');
END
$workflow$`;
}

/**
 * All migrations as a script for psql or a reviewer; running it again changes nothing.
 *
 * @param role an application role that is to be granted what it needs, no more
 * @param rowLevelSecurity also the policies, with what their roles are granted
 */
export function migrationSql(names: TableNames, role?: string, rowLevelSecurity?: PolicyGrants): string {
  const blocks = MIGRATIONS.map((migration) => migrationBlock(migration, names));
  const grants = role === undefined ? [] : grantStatements(names, role);
  const policies = rowLevelSecurity ? policyStatements(names, rowLevelSecurity) : [];
  return ['BEGIN', ...blocks, ...grants, ...policies, 'COMMIT', ''].join(';\n');
}

/** Row-level security on all tables, which must be there. May be repeated, like a migration. */
export function policyStatements(names: TableNames, { rowsTo, ...roles }: PolicyGrants = {}): string[] {
  const rows = rowsTo === undefined ? [] : ownedRowGrants(names, rowsTo);
  return [policyBlock(names, ADVISORY_LOCK, roles), ...rows];
}

/** What an application role needs at run time with `migrations: 'check'`: rows, no tables. */
export function grantStatements({ schema, prefix }: TableNames, role: string): string[] {
  const grantee = `"${role.replaceAll('"', '""')}"`;
  const usage = schema === undefined ? [] : [`GRANT USAGE ON SCHEMA "${schema}" TO ${grantee}`];
  const tables = TABLES.map((table) => qualified(schema, `${prefix}${table}`)).join(', ');
  return [...usage, `GRANT SELECT, INSERT, UPDATE, DELETE ON ${tables} TO ${grantee}`];
}
