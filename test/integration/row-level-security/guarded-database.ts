import type { DataSource } from 'typeorm';
import type { Pool, PoolClient } from 'pg';
import { runCli } from '../../../lib/cli/run-cli.js';
import { freshDatabase, type FreshDatabase } from '../../support/database.js';

export interface GuardedDatabase extends FreshDatabase {
  /** Role that the app logs in as: neither superuser nor owner of the tables. */
  readonly app: string;
  /** Role that the engine logs in as, where it has one of its own. */
  readonly engine: string;
  urlOf(role: string): string;
  /** Runs the package's command as the server's superuser. */
  cli(args: string): Promise<{ code: number; out: string }>;
  /** Ends it: database and roles. */
  dropAll(): Promise<void>;
}

export const PASSWORD = 'not a secret';

/** A database with the tables, two plain roles, and no row-level security yet. */
export async function databaseWithRoles(): Promise<GuardedDatabase> {
  const database = await freshDatabase();
  const roles = { app: `app_${database.name}`, engine: `engine_${database.name}` };
  const admin = database.openPool({ max: 1 });
  for (const role of Object.values(roles)) await admin.query(`CREATE ROLE "${role}" LOGIN PASSWORD '${PASSWORD}'`);
  await admin.end();
  const cli = async (args: string): Promise<{ code: number; out: string }> => {
    let out = '';
    const write = (text: string): void => void (out += text);
    const code = await runCli(args.split(' '), { DATABASE_URL: database.url }, { out: write, err: write });
    return { code, out };
  };
  return { ...database, ...roles, cli, urlOf: (role) => urlOf(database.url, role), dropAll: () => dropAll(database) };
}

/**
 * The same, guarded: `switching`: the app's role may become the dispatcher (`rowLevelSecurity: true`); else the engine logs in as
 * a role of its own.
 */
export async function guardedDatabase(form: 'switching' | 'login' = 'switching'): Promise<GuardedDatabase> {
  const database = await databaseWithRoles();
  const dispatcher = form === 'login' ? ` --dispatcher ${database.engine}` : '';
  const { code, out } = await database.cli(`migrate --row-level-security --grant ${database.app}${dispatcher}`);
  if (code !== 0) throw new Error(out);
  return database;
}

export function openAs(database: GuardedDatabase, role: string): Promise<DataSource> {
  return database.openDataSource({ url: database.urlOf(role) });
}

export function poolAs(database: GuardedDatabase, role: string): Pool {
  return database.openPool({ connectionString: database.urlOf(role), max: 2 });
}

/** One transaction of a session of that owner, as a host's plain SQL has it; rolled back where `work` throws. */
export async function asOwner<T>(
  pool: Pool,
  owner: string | null,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    if (owner !== null) await client.query(`SELECT set_config('app.owner_id', $1, true)`, [owner]);
    const answer = await work(client);
    await client.query('COMMIT');
    return answer;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
}

function urlOf(url: string, role: string): string {
  const other = new URL(url);
  other.username = role;
  other.password = encodeURIComponent(PASSWORD);
  return other.href;
}

/** Roles belong to the server: they go after the database that their rights are in. */
async function dropAll({ name, url, drop, openPool }: FreshDatabase): Promise<void> {
  const server = new URL(url);
  server.pathname = '/postgres';
  const inside = openPool({ max: 1 });
  const { rows } = await inside.query<{ role: string }>(
    `SELECT DISTINCT r.rolname AS role FROM pg_roles r LEFT JOIN pg_auth_members m ON m.roleid = r.oid
      WHERE r.rolname LIKE '%' || $1 OR r.rolname ~ ('^\\w*(dispatcher|switch)_' || substr(md5($1 || '/public'), 1, 8) || '$')`,
    [name],
  );
  await inside.end();
  await drop();
  const admin = openPool({ connectionString: server.href, max: 1 });
  for (const { role } of rows) await admin.query(`DROP ROLE IF EXISTS "${role}"`);
  await admin.end();
}
