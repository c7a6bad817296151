import type { Pool } from 'pg';
import { createWorkflowMigrations, runMigrations } from '../../../lib/persistence/migrations/index.js';
import { ROW_POLICIES } from '../../../lib/persistence/row-level-security/row-policies.js';
import { TABLES, tableNames, type Table } from '../../../lib/persistence/table-names.js';
import { freshDatabase } from '../../support/database.js';
import {
  asOwner,
  databaseWithRoles,
  guardedDatabase,
  openAs,
  poolAs,
  type GuardedDatabase,
} from './guarded-database.js';
import { fillTables } from './filled-tables.js';

const owned = TABLES.filter((table) => ROW_POLICIES[table] === 'owner');

describe('the policies', () => {
  let database: GuardedDatabase;
  let admin: Pool;
  let app: Pool;

  beforeAll(async () => {
    database = await guardedDatabase();
    admin = database.openPool();
    app = poolAs(database, database.app);
    await fillTables(admin, ['acme', 'other', null]);
  });

  afterAll(async () => {
    await app.end();
    await admin.end();
    await database.dropAll();
  });

  const owners = async (table: Table, owner: string | null): Promise<(string | null)[]> =>
    asOwner(app, owner, async (client) => {
      const { rows } = await client.query<{ owner_id: string | null }>(`SELECT owner_id FROM workflow_${table}`);
      return [...new Set(rows.map(({ owner_id }) => owner_id))];
    });

  it('OWNER-4: triggers of shared graphs are seen by everybody, those of others by nobody, and none is written', async () => {
    const insert =
      'INSERT INTO workflow_triggers (id, owner_id, definition_id, definition_version, trigger_id, type, spec, fingerprint) VALUES ';
    const values = `(gen_random_uuid(), $1, 'd', 1, 't', 'webhook', '{}', 'f')`;
    for (const owner of ['acme', 'other', null]) await admin.query(insert + values, [owner]);
    expect((await owners('triggers', 'acme')).sort()).toEqual(['acme', null]);
    expect(await owners('triggers', null)).toEqual([null]);
    await asOwner(app, 'acme', async (client) => {
      const { rowCount } = await client.query(
        `UPDATE workflow_triggers SET spec = '[]' WHERE owner_id IS DISTINCT FROM 'acme'`,
      );
      expect(rowCount).toBe(0);
      await expect(client.query(insert + values.replace("'t'", "'u'"), ['other'])).rejects.toThrow('policy');
    });
  });

  it('OWNER-4: versions of shared graphs are read by everybody, their drafts and those of others by nobody, and none is written', async () => {
    const insert = 'INSERT INTO workflow_graphs (id, owner_id, definition_id, version, status, source) VALUES ';
    const graph = (owner: string | null, version: number | null) =>
      admin.query(`${insert} (gen_random_uuid(), $1, 'd', $2, $3, '{}')`, [
        owner,
        version,
        version === null ? 'draft' : 'published',
      ]);
    for (const owner of ['acme', 'other', null]) for (const version of [1, null]) await graph(owner, version);
    const seen = (owner: string | null) =>
      asOwner(app, owner, async (client) => {
        const { rows } = await client.query<{ graph: string }>(
          `SELECT coalesce(owner_id, 'all') || ' ' || coalesce(version::text, 'draft') AS graph FROM workflow_graphs ORDER BY 1`,
        );
        return rows.map((row) => row.graph);
      });
    expect(await seen('acme')).toEqual(['acme 1', 'acme draft', 'all 1']);
    expect(await seen(null)).toEqual(['all 1']);
    await asOwner(app, 'acme', async (client) => {
      const { rowCount } = await client.query(
        `UPDATE workflow_graphs SET source = '[]' WHERE owner_id IS DISTINCT FROM 'acme'`,
      );
      expect(rowCount).toBe(0);
      await expect(client.query(`${insert} (gen_random_uuid(), NULL, 'e', 1, 'published', '{}')`)).rejects.toThrow(
        'policy',
      );
    });
  });

  it('OWNER-4: each table has policies', async () => {
    const { rows } = await admin.query<{ name: string; policies: string }>(
      `SELECT c.relname AS name, string_agg(p.polname, ' ' ORDER BY p.polname) AS policies
         FROM pg_class c LEFT JOIN pg_policy p ON p.polrelid = c.oid
        WHERE c.relname LIKE 'workflow_%' AND c.relkind = 'r' GROUP BY c.relname`,
    );
    const expected = {
      owner: 'workflow_dispatcher workflow_owner',
      shared: 'workflow_dispatcher workflow_owner workflow_shared',
      engine: 'workflow_dispatcher',
      versions: 'workflow_versions',
    };
    expect(Object.fromEntries(rows.map(({ name, policies }) => [name, policies]))).toEqual(
      Object.fromEntries(TABLES.map((table) => [`workflow_${table}`, expected[ROW_POLICIES[table]]])),
    );
  });

  it.each(owned)('OWNER-4: %s: a session of an owner reads its own rows, one of nobody none', async (table) => {
    expect(await owners(table, 'acme')).toEqual(['acme']);
    expect(await owners(table, 'stranger')).toEqual([]);
    expect(await owners(table, null)).toEqual([]);
    expect(await owners(table, '')).toEqual([]);
  });

  it.each(owned)("OWNER-4: %s: a session of an owner changes nothing of another's", async (table) => {
    const count = async (): Promise<unknown> =>
      (await admin.query(`SELECT owner_id, count(*)::int AS rows FROM workflow_${table} GROUP BY 1 ORDER BY 1`)).rows;
    const before = await count();
    const changed = await asOwner(app, 'acme', async (client) => {
      const updated = await client.query(
        `UPDATE workflow_${table} SET owner_id = owner_id WHERE owner_id IS DISTINCT FROM 'acme'`,
      );
      const deleted = await client.query(`DELETE FROM workflow_${table} WHERE owner_id IS DISTINCT FROM 'acme'`);
      return [updated.rowCount, deleted.rowCount];
    });
    expect(changed).toEqual([0, 0]);
    for (const owner of ["'other'", 'NULL']) {
      const given = asOwner(app, 'acme', (client) => client.query(`UPDATE workflow_${table} SET owner_id = ${owner}`));
      await expect(given).rejects.toThrow('violates row-level security policy');
    }
    expect(await count()).toEqual(before);
  });

  it("OWNER-4: a session of an owner inserts nothing of another's, nor of nobody's", async () => {
    for (const owner of ['other', null]) {
      const inserted = asOwner(app, 'acme', (client) => fillTables(client, [owner]));
      await expect(inserted).rejects.toThrow('violates row-level security policy');
    }
  });

  it('OWNER-4: what belongs to the engine no owner sees or changes', async () => {
    for (const table of TABLES.filter((name) => ROW_POLICIES[name] === 'engine')) {
      const look = asOwner(app, 'acme', (client) => client.query(`SELECT * FROM workflow_${table}`));
      await expect(look).rejects.toThrow('permission denied');
    }
    const moved = asOwner(app, 'acme', (client) => client.query('DELETE FROM workflow_schema_versions'));
    await expect(moved).rejects.toThrow('permission denied');
  });

  it('OWNER-4: the dispatcher sees all, and as cheaply as without', async () => {
    const dispatcher = (
      await admin.query<{ role: string }>(
        `SELECT rolname AS role FROM pg_roles WHERE rolname ~ 'dispatcher_' AND pg_has_role($1, oid, 'MEMBER')`,
        [database.app],
      )
    ).rows[0]!.role;
    const plan = await asOwner(app, null, async (client) => {
      await client.query(`SET LOCAL ROLE "${dispatcher}"`);
      const seen = await client.query('SELECT DISTINCT owner_id FROM workflow_runs ORDER BY 1');
      expect(seen.rows).toEqual([{ owner_id: 'acme' }, { owner_id: 'other' }, { owner_id: null }]);
      return (await client.query<{ 'QUERY PLAN': string }>('EXPLAIN SELECT * FROM workflow_jobs WHERE state = 0')).rows;
    });
    expect(plan.map((row) => row['QUERY PLAN']).join('\n')).not.toContain('current_setting');
  });
});

describe('putting them there', () => {
  let database: GuardedDatabase;

  beforeEach(async () => {
    database = await databaseWithRoles();
  });

  afterEach(async () => {
    await database.dropAll();
  });

  it('OWNER-4: the command says what is missing, does it, and does it once', async () => {
    expect((await database.cli('status --row-level-security')).out).toContain('row-level security of workflow_runs');
    const command = `migrate --row-level-security --grant ${database.app}`;
    expect(await database.cli(command)).toMatchObject({
      code: 0,
      out: expect.stringContaining('Applied: row-level security\n') as string,
    });
    expect(await database.cli(command)).toMatchObject({
      code: 0,
      out: expect.stringContaining('Nothing to do') as string,
    });
    expect(await database.cli('status --row-level-security')).toEqual({ code: 0, out: 'The tables are up to date.\n' });
  });

  it('OWNER-4: its script can be run, again and in several places at once', async () => {
    const pool = database.openPool({ max: 4 });
    const { out } = await database.cli(
      `sql --row-level-security --grant ${database.app} --dispatcher ${database.engine}`,
    );
    await Promise.all(Array.from({ length: 4 }, () => pool.query(out)));
    await pool.end();
    expect(await database.cli('status --row-level-security')).toMatchObject({ code: 0 });
    const engine = poolAs(database, database.engine);
    expect((await engine.query('SELECT * FROM workflow_outbox_slots')).rowCount).toBe(16);
    await engine.end();
  });

  it('OWNER-4: a table that came later, and a policy of before, are done by the next migrate', async () => {
    await database.cli('migrate --row-level-security');
    const admin = database.openPool();
    await admin.query('ALTER TABLE workflow_events NO FORCE ROW LEVEL SECURITY');
    await admin.query('DROP POLICY workflow_owner ON workflow_steps');
    await admin.query(`COMMENT ON POLICY workflow_owner ON workflow_jobs IS 'nestjs-workflow-engine row policies 0'`);
    expect((await database.cli('status --row-level-security')).out).toBe(
      'Pending: row-level security of workflow_jobs, row-level security of workflow_steps, row-level security of workflow_events\n',
    );
    await database.cli('migrate --row-level-security');
    expect(await database.cli('status --row-level-security')).toMatchObject({ code: 0 });
    await admin.end();
  });

  it('OWNER-4: rows of before get what they lack, and all tables one dispatcher', async () => {
    const admin = database.openPool();
    await fillTables(admin, ['acme']);
    await admin.query('UPDATE workflow_node_visits SET owner_id = NULL');
    await database.cli('migrate --row-level-security');
    expect((await admin.query('SELECT owner_id FROM workflow_node_visits')).rows).toEqual([{ owner_id: 'acme' }]);
    await admin.query(`CREATE ROLE "old_${database.name}"`);
    await admin.query(`ALTER POLICY workflow_dispatcher ON workflow_jobs TO "old_${database.name}"`);
    await database.cli('migrate --row-level-security');
    const { rows } = await admin.query(
      `SELECT polroles::regrole[]::text AS roles FROM pg_policy WHERE polname = 'workflow_dispatcher'`,
    );
    expect(new Set(rows.map((row) => (row as { roles: string }).roles)).size).toBe(1);
    await admin.end();
  });

  it('OWNER-4: a role that is no superuser puts them there too, and is held by them', async () => {
    const admin = database.openPool();
    const owner = `owner_${database.name}`;
    await admin.query(`CREATE ROLE "${owner}" LOGIN CREATEROLE PASSWORD 'not a secret'`);
    await admin.query(`CREATE SCHEMA flows AUTHORIZATION "${owner}"`);
    const names = tableNames({ schema: 'flows' });
    const dataSource = await openAs(database, owner);
    expect(await runMigrations(dataSource, names, { rowLevelSecurity: { switchTo: owner } })).toContain(
      'row-level security',
    );
    expect(await runMigrations(dataSource, names, { rowLevelSecurity: { switchTo: owner } })).toEqual([]);
    await fillTables(admin, ['acme'], names);
    expect(await dataSource.query('SELECT id FROM flows.workflow_runs')).toEqual([]);
    await dataSource.destroy();
    await admin.query(`DROP OWNED BY "${owner}" CASCADE`);
    await admin.end();
  });

  it('OWNER-4: a host has them among its own migrations', async () => {
    const place = await freshDatabase({ empty: true });
    const migrations = createWorkflowMigrations({ rowLevelSecurity: true });
    const dataSource = await place.openDataSource({ migrations });
    await dataSource.runMigrations();
    const [{ rows }] = (await dataSource.query(`SELECT count(*)::int AS rows FROM pg_policy`)) as [{ rows: number }];
    expect(rows).toBeGreaterThan(TABLES.length);
    expect(createWorkflowMigrations().length).toBe(migrations.length - 1);
    await dataSource.destroy();
  });
});
