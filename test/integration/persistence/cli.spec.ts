import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { runCli } from '../../../lib/cli/run-cli.js';
import { freshDatabase } from '../../support/database.js';
import type { FreshDatabase } from '../../support/database.js';

interface Answer {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function cli(args: string, env: NodeJS.ProcessEnv = {}): Promise<Answer> {
  let [out, err] = ['', ''];
  const output = { out: (text: string) => void (out += text), err: (text: string) => void (err += text) };
  const code = await runCli(args.split(' ').filter(Boolean), env, output);
  return { code, out, err };
}

describe('the command line', () => {
  let database: FreshDatabase;

  beforeAll(async () => {
    database = await freshDatabase({ empty: true });
  });

  it('OPS-3: migrate brings the tables up to date, status says whether they are', async () => {
    const env = { DATABASE_URL: database.url };
    const tables = '--schema flows --prefix my_';
    expect(await cli(`status ${tables}`, env)).toMatchObject({
      code: 3,
      out: 'Pending: 001-initial-tables, 002-steps-waits-events, 003-owners-subjects-audit, 004-outcomes, 005-graphs, 006-approvals, 007-triggers\n',
    });
    expect(await cli(`migrate ${tables}`, env)).toMatchObject({
      code: 0,
      out: 'Applied: 001-initial-tables, 002-steps-waits-events, 003-owners-subjects-audit, 004-outcomes, 005-graphs, 006-approvals, 007-triggers\n',
    });
    expect(await cli(`migrate ${tables}`, env)).toMatchObject({
      code: 0,
      out: expect.stringContaining('Nothing to do') as string,
    });
    expect(await cli(`status ${tables}`, env)).toMatchObject({ code: 0, out: 'The tables are up to date.\n' });
    expect(await cli(`status --url ${database.url}`)).toMatchObject({ code: 3 });
  });

  it('OPS-3: the script of sql can be run, and grants', async () => {
    const pool = database.openPool();
    const role = `reader_${database.name}`;
    await pool.query(`CREATE ROLE "${role}"`);
    const { out } = await cli(`sql --schema flows --grant ${role}`);
    await pool.query(out);
    expect(await cli('status --schema flows', { DATABASE_URL: database.url })).toMatchObject({ code: 0 });
    const { rows } = await pool.query(`SELECT has_table_privilege($1, 'flows.workflow_jobs', 'DELETE') AS granted`, [
      role,
    ]);
    expect(rows).toEqual([{ granted: true }]);
    await pool.query(`DROP OWNED BY "${role}"`);
    await pool.query(`DROP ROLE "${role}"`);
    await pool.end();
  });

  it.each([
    ['fly', 2, 'no command "fly"'],
    ['migrate status', 2, 'too much'],
    ['migrate --schemas x', 2, '--schemas'],
    ['migrate', 2, 'DATABASE_URL'],
    ['migrate --url mysql://localhost/x', 2, 'postgres://'],
    ['sql --schema a-b', 2, '"a-b" must be letters'],
    ['status --url postgres://nobody@127.0.0.1:1/none', 1, 'ECONNREFUSED'],
    ['status --url postgres://nobody@localhost:1/none', 1, 'ECONNREFUSED'],
  ])('OPS-3: "%s" ends with code %i and says %s', async (args, code, message) => {
    expect(await cli(args)).toEqual({ code, out: '', err: expect.stringContaining(message) as string });
  });

  it('OPS-3: without a command it prints help', async () => {
    for (const args of ['', '--help', 'help']) expect((await cli(args)).out).toContain('Usage: nestjs-workflow-engine');
  });

  it('OPS-3: as a process it prints and exits with the code', async () => {
    const node = ['--import', './test/support/register-typescript.mjs', 'lib/cli/main.ts'];
    const env = { ...process.env, DATABASE_URL: database.url };
    const run = promisify(execFile);
    expect(await run(process.execPath, [...node, 'migrate'], { env })).toMatchObject({
      stdout:
        'Applied: 001-initial-tables, 002-steps-waits-events, 003-owners-subjects-audit, 004-outcomes, 005-graphs, 006-approvals, 007-triggers\n',
    });
    const wrong = run(process.execPath, [...node, 'fly'], { env });
    await expect(wrong).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('no command') as string });
  });
});
