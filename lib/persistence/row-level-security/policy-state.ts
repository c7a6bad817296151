import { inMigrationTransaction } from '../migrations/migration-connection.js';
import type { MigrationQuery, MigrationTarget } from '../migrations/migration-connection.js';
import type { TableNames } from '../table-names.js';
import { DISPATCHER_POLICY, guardedTables, POLICIES, POLICY_MARK } from './row-policies.js';

/**
 * Tables that row-level security doesn't guard, or not as this version of the package wants it: switched off, not forced upon the
 * table's owner, without one of the policies, or with another dispatcher than the runs. Needs no rights but to look into the catalog. A table that isn't there is
 * none of them: that is for the migrations to say.
 */
export async function readUnguarded(query: MigrationQuery, names: TableNames): Promise<string[]> {
  const tables = guardedTables(names);
  const policies = Object.entries(POLICIES).flatMap(([kind, texts]) => texts.map(({ name }) => ({ kind, name })));
  const rows = await query(
    `SELECT c.relname AS name
       FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS x(name, kind, nr) JOIN pg_catalog.pg_class c ON c.oid = to_regclass(x.name)
      WHERE NOT c.relrowsecurity OR x.kind <> 'versions' AND NOT c.relforcerowsecurity
         OR EXISTS (SELECT FROM unnest($3::text[], $4::text[]) AS e(kind, name)
                     WHERE e.kind = x.kind AND NOT EXISTS (
                       SELECT FROM pg_catalog.pg_policy p WHERE p.polrelid = c.oid AND p.polname = e.name AND obj_description(p.oid, 'pg_policy') = $5
                          AND (e.name <> '${DISPATCHER_POLICY}' OR p.polroles = (
                            SELECT d.polroles FROM pg_catalog.pg_policy d WHERE d.polrelid = to_regclass($6) AND d.polname = e.name))))
      ORDER BY x.nr`,
    [
      tables.map(({ name }) => name),
      tables.map(({ kind }) => kind),
      policies.map(({ kind }) => kind),
      policies.map(({ name }) => name),
      POLICY_MARK,
      names.runs,
    ],
  );
  return (rows as { name: string }[]).map(({ name }) => name);
}

/** The role that the policies let see all rows; undefined where there is none. As it stands: a copied database may have another's. */
export async function readDispatcher(query: MigrationQuery, { runs }: TableNames): Promise<string | undefined> {
  const rows = await query(
    `SELECT r.rolname::text AS role FROM pg_catalog.pg_policy p JOIN pg_catalog.pg_roles r ON r.oid = ANY (p.polroles)
      WHERE p.polrelid = to_regclass($1) AND p.polname = '${DISPATCHER_POLICY}'`,
    [runs],
  );
  return (rows as { role: string }[])[0]?.role;
}

/** The same of any target of migrations. */
export const dispatcherRole = (target: MigrationTarget, names: TableNames): Promise<string | undefined> =>
  inMigrationTransaction(target, (query) => readDispatcher(query, names));
