import type { TableNames } from '../table-names.js';
import { DISPATCHER_POLICY, guardedTables, POLICIES, POLICY_MARK } from './row-policies.js';

export interface PolicyGrants {
  /** A role that may read and write rows: those of the owner whose session it is. */
  readonly rowsTo?: string;
  /** A role that may work as the dispatcher for the length of a transaction. */
  readonly switchTo?: string;
  /** A role that is the dispatcher, for the engine to log in as. */
  readonly dispatcherTo?: string;
}

/** How a schema's roles are told apart on their server: the word that their names end in, as an SQL expression. */
const PLACE_HASH = `substr(md5(current_database() || '/' || place), 1, 8)`;

/**
 * Row-level security on all tables, as one block that may run any number of times, in any number of processes at once. What stands
 * already is left alone, so that it locks nothing the second time; tables that came later, and policies of an older version, are
 * done.
 *
 * Two roles, made where they are missing, their names told apart by database and schema: roles belong to the whole server, and
 * whoever works as the dispatcher of one database must not be that of another.
 * - The dispatcher sees all rows. Nobody logs in as it.
 * - The switch stands between it and the app's role, and inherits nothing (NOINHERIT): a member may become the dispatcher by
 *   SET ROLE, and is held by the policies as long as it doesn't. So it is on every version; that a single membership be without
 *   inheritance only PostgreSQL 16 can say.
 *
 * @param lock number of the advisory lock that all who migrate take
 */
export function policyBlock(
  names: TableNames,
  lock: string,
  { switchTo, dispatcherTo }: Omit<PolicyGrants, 'rowsTo'> = {},
): string {
  const { prefix, runs, nodeVisits } = names;
  const tables = guardedTables(names).map(({ name, kind }) => `(${literal(name)}, '${kind}')`);
  const policies = Object.entries(POLICIES).flatMap(([kind, texts]) =>
    texts.map(({ name, text }) => `('${kind}', '${name}', ${literal(text)})`),
  );
  return `DO $workflow$
DECLARE
place text;
dispatcher text;
switch text;
t record;
p record;
BEGIN
PERFORM pg_advisory_xact_lock(${lock});
SELECT n.nspname INTO STRICT place FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = to_regclass(${literal(runs)});
dispatcher := '${prefix}dispatcher_' || ${PLACE_HASH};
switch := '${prefix}switch_' || ${PLACE_HASH};
IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = dispatcher) THEN
EXECUTE format('CREATE ROLE %I NOLOGIN', dispatcher);
END IF;
IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = switch) THEN
EXECUTE format('CREATE ROLE %I NOLOGIN NOINHERIT', switch);
END IF;
IF NOT pg_has_role(switch, dispatcher, 'MEMBER') THEN
EXECUTE format('GRANT %I TO %I', dispatcher, switch);
END IF;
IF NOT has_schema_privilege(dispatcher, place, 'USAGE') THEN
EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', place, dispatcher);
END IF;
-- Counters of before they had an owner: their owner's session would stumble over rows that it can't see.
IF NOT (SELECT relforcerowsecurity FROM pg_catalog.pg_class WHERE oid = to_regclass(${literal(nodeVisits)})) THEN
UPDATE ${nodeVisits} v SET owner_id = r.owner_id FROM ${runs} r WHERE r.id = v.run_id AND v.owner_id IS NULL AND r.owner_id IS NOT NULL;
END IF;
FOR t IN SELECT x.name, x.kind, c.oid, c.relrowsecurity, c.relforcerowsecurity, CASE x.kind WHEN 'versions' THEN 'SELECT' ELSE 'SELECT, INSERT, UPDATE, DELETE' END AS rights
FROM (VALUES ${tables.join(', ')}) AS x(name, kind) JOIN pg_catalog.pg_class c ON c.oid = to_regclass(x.name) LOOP
IF EXISTS (SELECT FROM unnest(string_to_array(t.rights, ', ')) AS needed WHERE NOT has_table_privilege(dispatcher, t.oid, needed)) THEN
EXECUTE format('GRANT %s ON %s TO %I', t.rights, t.name, dispatcher);
END IF;
FOR p IN SELECT e.name, e.text, o.oid IS NOT NULL AS stands, coalesce(obj_description(o.oid, 'pg_policy') = '${POLICY_MARK}'
AND (e.name <> '${DISPATCHER_POLICY}' OR o.polroles = ARRAY(SELECT oid FROM pg_catalog.pg_roles WHERE rolname = dispatcher)), false) AS fresh
FROM (VALUES ${policies.join(', ')}) AS e(kind, name, text) LEFT JOIN pg_catalog.pg_policy o ON o.polrelid = t.oid AND o.polname = e.name
WHERE e.kind = t.kind LOOP
CONTINUE WHEN p.fresh;
IF p.stands THEN
EXECUTE format('DROP POLICY %I ON %s', p.name, t.name);
END IF;
EXECUTE format('CREATE POLICY %I ON %s ', p.name, t.name) || format(p.text, dispatcher);
EXECUTE format('COMMENT ON POLICY %I ON %s IS %L', p.name, t.name, '${POLICY_MARK}');
END LOOP;
IF NOT t.relrowsecurity THEN
EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', t.name);
END IF;
IF t.kind <> 'versions' AND NOT t.relforcerowsecurity THEN
EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', t.name);
END IF;
END LOOP;${membership('switch', switchTo, SET_ROLE)}${membership('dispatcher', dispatcherTo, `'USAGE'`)}
END
$workflow$`;
}

/** Before 16, every member may become what it is a member of. */
const SET_ROLE = `CASE WHEN current_setting('server_version_num')::int >= 160000 THEN 'SET' ELSE 'MEMBER' END`;

/** Granted only where it is missing: who migrates need not be allowed to grant what is granted. */
function membership(role: string, member: string | undefined, right: string): string {
  if (member === undefined) return '';
  return `
IF NOT pg_has_role(${literal(member)}, ${role}, ${right}) THEN
EXECUTE format('GRANT %I TO %I', ${role}, ${literal(member)});
END IF;`;
}

/** What an app's role needs under row-level security: rows of tables that hold some of owners, and to read how far migrations are. */
export function ownedRowGrants(names: TableNames, role: string): string[] {
  const grantee = `"${role.replaceAll('"', '""')}"`;
  const owned = guardedTables(names).filter(({ kind }) => kind === 'owner' || kind === 'shared');
  const usage = names.schema === undefined ? [] : [`GRANT USAGE ON SCHEMA "${names.schema}" TO ${grantee}`];
  return [
    ...usage,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ${owned.map(({ name }) => name).join(', ')} TO ${grantee}`,
    `GRANT SELECT ON ${names.schemaVersions} TO ${grantee}`,
  ];
}

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
