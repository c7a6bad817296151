import { randomBytes } from 'node:crypto';
import { createDatabase, dropDatabase, openTestServer, type TestServer } from 'nestjs-workflow-engine/testing';
import { DataSource } from 'typeorm';

/** A database, and a role for the app to log in as that is neither superuser nor exempt from policies. */
export class TeamDatabase {
  private constructor(
    private readonly server: TestServer | undefined,
    private readonly serverUrl: string,
    private readonly adminUrl: string,
    private readonly role: string,
    /** For the app. */
    readonly url: string,
  ) {}

  /** @param serverUrl of a superuser; left out: DATABASE_URL, else a server of its own */
  static async open(serverUrl?: string): Promise<TeamDatabase> {
    const server = serverUrl === undefined ? await openTestServer() : undefined;
    const base = serverUrl ?? server!.url();
    const adminUrl = await createDatabase(base);
    const [role, password] = [`invoices_${randomBytes(4).toString('hex')}`, randomBytes(12).toString('hex')];
    await asAdmin(adminUrl, [
      // CREATEROLE for the first boot only: it makes the roles of the engine's policies.
      `CREATE ROLE ${role} LOGIN CREATEROLE PASSWORD '${password}'`,
      `ALTER SCHEMA public OWNER TO ${role}`,
    ]);
    const url = new URL(adminUrl);
    [url.username, url.password] = [role, password];
    return new TeamDatabase(server, base, adminUrl, role, url.href);
  }

  /** Statements of a session of the app's role, as SQL of your own would run: of a team, or of none. */
  async as(teamId: string | null, sql: string): Promise<Record<string, unknown>[]> {
    const dataSource = await new DataSource({ type: 'postgres', url: this.url, poolSize: 1 }).initialize();
    try {
      return await dataSource.transaction(async (manager) => {
        if (teamId !== null) await manager.query(`SELECT set_config('app.owner_id', $1, true)`, [teamId]);
        return manager.query(sql) as Promise<Record<string, unknown>[]>;
      });
    } finally {
      await dataSource.destroy();
    }
  }

  async admin(...statements: readonly string[]): Promise<void> {
    await asAdmin(this.adminUrl, statements);
  }

  async close(): Promise<void> {
    const made = await this.rolesMade();
    await dropDatabase(this.serverUrl, new URL(this.adminUrl).pathname.slice(1));
    await asAdmin(
      this.serverUrl,
      made.map((role) => `DROP ROLE IF EXISTS "${role}"`),
    );
    await this.server?.stop();
  }

  /** Roles belong to the server: those of this database go with it. */
  private async rolesMade(): Promise<string[]> {
    const [row] = await asAdmin(this.adminUrl, [
      `SELECT array_agg(rolname::text) AS roles FROM pg_roles WHERE rolname ~ ('^workflow_(dispatcher|switch)_' || substr(md5(current_database() || '/public'), 1, 8))`,
    ]);
    return [...((row?.roles as string[] | null) ?? []), this.role];
  }
}

/** Returns the rows of the last statement. */
async function asAdmin(url: string, statements: readonly string[]): Promise<Record<string, unknown>[]> {
  const dataSource = await new DataSource({ type: 'postgres', url, poolSize: 1 }).initialize();
  try {
    let rows: Record<string, unknown>[] = [];
    for (const statement of statements) rows = (await dataSource.query(statement)) as Record<string, unknown>[];
    return rows;
  } finally {
    await dataSource.destroy();
  }
}
