import type { Pool } from 'pg';
import { WorkflowService, type WorkflowModuleOptions } from 'nestjs-workflow-engine';
import { fillTables } from './filled-tables.js';
import { buildGuardedApp, guardedApp, inRequestOf, securityOf } from './guarded-app.js';
import { databaseWithRoles, guardedDatabase, PASSWORD, type GuardedDatabase } from './guarded-database.js';
import { Plain } from './life.js';

const FORMS = [
  ['switching', 'switching'],
  ['login', 'login'],
] as const;

describe('boot under row-level security', () => {
  let database: GuardedDatabase;
  let admin: Pool;

  afterEach(async () => {
    await admin.end();
    await database.dropAll();
  });

  async function open(make: () => Promise<GuardedDatabase>): Promise<void> {
    database = await make();
    admin = database.openPool();
  }

  const refusal = async (form: 'switching' | 'login', workflow: WorkflowModuleOptions = {}): Promise<unknown> => {
    const app = await buildGuardedApp(database, form, workflow);
    try {
      await app.init();
      return 'booted';
    } catch (error) {
      return error;
    } finally {
      await app.close();
    }
  };

  it.each(FORMS)('OWNER-4: %s: without the policies it is refused, with the command', async (_name, form) => {
    await open(databaseWithRoles);
    await admin.query(
      `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO "${database.app}", "${database.engine}"`,
    );
    expect(await refusal(form)).toMatchObject({
      code: 'ROW_POLICIES_MISSING',
      message: expect.stringContaining('migrate --row-level-security') as string,
      params: { tables: expect.arrayContaining(['workflow_runs', 'workflow_audit']) as string[] },
    });
  });

  it('OWNER-4: a table whose owner is exempt, or that lost a policy, is refused by name', async () => {
    await open(guardedDatabase);
    await admin.query('ALTER TABLE workflow_steps NO FORCE ROW LEVEL SECURITY');
    await admin.query('DROP POLICY workflow_dispatcher ON workflow_jobs');
    expect(await refusal('switching')).toMatchObject({
      code: 'ROW_POLICIES_MISSING',
      params: { tables: ['workflow_jobs', 'workflow_steps'] },
    });
  });

  it.each([
    ['SUPERUSER', 'is a superuser'],
    ['BYPASSRLS', 'has BYPASSRLS'],
  ])('OWNER-4: a role with %s is refused', async (right, why) => {
    await open(guardedDatabase);
    await admin.query(`ALTER ROLE "${database.app}" ${right}`);
    expect(await refusal('switching')).toMatchObject({
      code: 'ROLE_NOT_RESTRICTED',
      params: { role: database.app, why },
    });
  });

  it('OWNER-4: a role that is the dispatcher by inheritance is refused', async () => {
    await open(guardedDatabase);
    const { rows } = await admin.query<{ role: string }>(
      `SELECT polroles[1]::regrole::text AS role FROM pg_policy WHERE polname = 'workflow_dispatcher' LIMIT 1`,
    );
    await admin.query(`GRANT ${rows[0]!.role} TO "${database.app}"`);
    expect(await refusal('switching')).toMatchObject({
      code: 'ROLE_NOT_RESTRICTED',
      params: { why: expect.stringContaining('inherits') as string },
    });
  });

  it('OWNER-4: another policy that shows rows without an owner is refused, as soon as there is one', async () => {
    await open(guardedDatabase);
    await admin.query('CREATE POLICY reports ON workflow_events FOR SELECT USING (true)');
    await fillTables(admin, ['acme']);
    expect(await refusal('switching')).toMatchObject({
      code: 'ROLE_NOT_RESTRICTED',
      params: { why: expect.stringContaining('"workflow_events"') as string },
    });
  });

  it('OWNER-4: a role that may not switch is refused, with the grant', async () => {
    await open(() => guardedDatabase('login'));
    expect(await refusal('switching')).toMatchObject({
      code: 'DISPATCHER_DENIED',
      message: expect.stringContaining(`migrate --row-level-security --grant ${database.app}`) as string,
    });
  });

  it('OWNER-4: a login that is not the dispatcher is refused, with the grant', async () => {
    await open(guardedDatabase);
    await admin.query(`GRANT SELECT ON workflow_schema_versions TO "${database.engine}"`);
    expect(await refusal('login')).toMatchObject({
      code: 'DISPATCHER_DENIED',
      message: expect.stringMatching(/GRANT "workflow_dispatcher_\w+" TO "engine_/) as string,
    });
  });

  it('OWNER-4: the login may be a URL; a wrong password is what the server says', async () => {
    await open(() => guardedDatabase('login'));
    const owners = (url: string): WorkflowModuleOptions => ({ owners: { rowLevelSecurity: { dispatcher: { url } } } });
    expect(await refusal('login', owners(database.urlOf(database.engine)))).toBe('booted');
    await admin.query(`ALTER ROLE "${database.engine}" NOLOGIN`);
    expect(String(await refusal('login'))).toContain('not permitted to log in');
  });

  it("OWNER-4, OPS-3: migrations: 'run' makes tables and policies, once, and the app is held by them", async () => {
    await open(databaseWithRoles);
    await admin.query(`ALTER ROLE "${database.app}" CREATEROLE`);
    await admin.query(`CREATE SCHEMA flows AUTHORIZATION "${database.app}"`);
    for (const right of ['CREATEROLE', 'NOCREATEROLE']) {
      await admin.query(`ALTER ROLE "${database.app}" ${right}`);
      const app = await guardedApp(database, 'switching', { migrations: 'run', schema: 'flows' });
      const workflows = app.get(WorkflowService);
      const { run } = await inRequestOf('acme', () => workflows.start(Plain, { name: right }));
      await expect(inRequestOf('acme', () => workflows.result(run))).resolves.toContain(right);
      await app.close();
    }
    const own = database.openPool({ connectionString: database.urlOf(database.app), max: 1 });
    expect((await own.query('SELECT id FROM flows.workflow_runs')).rows).toEqual([]);
    await own.end();
    await admin.query(`DROP OWNED BY "${database.app}" CASCADE`);
  });

  it("OWNER-4: an engine's login alone goes into the host's URL, whatever the host logs in as", async () => {
    await open(() => guardedDatabase('login'));
    expect(securityOf(database, 'login')).toEqual({ dispatcher: { username: database.engine, password: PASSWORD } });
    const app = await guardedApp(database, 'login');
    const { rows } = await admin.query<{ name: string }>(
      `SELECT DISTINCT usename::text AS name FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'nestjs-workflow-engine' ORDER BY 1`,
    );
    expect(rows.map(({ name }) => name)).toEqual([database.app, database.engine]);
    await app.close();
  });
});
