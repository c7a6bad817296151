import { DataSource } from 'typeorm';
import { WorkflowError } from '../errors/index.js';
import { migrationSql, pendingMigrations, runMigrations } from '../persistence/migrations/index.js';
import type { PolicyGrants } from '../persistence/row-level-security/policy-block.js';
import { dispatcherRole } from '../persistence/row-level-security/policy-state.js';
import { tableNames } from '../persistence/table-names.js';
import type { TableNames } from '../persistence/table-names.js';
import { readArguments, UsageError } from './arguments.js';
import type { CliArguments } from './arguments.js';
import { HELP } from './help.js';

export const EXIT = { done: 0, failed: 1, usage: 2, behind: 3 } as const;

export interface CliOutput {
  out(text: string): void;
  err(text: string): void;
}

/**
 * The command line as a function: answers the exit code and never throws.
 *
 * @param argv without the program's name
 */
export async function runCli(argv: readonly string[], env: NodeJS.ProcessEnv, output: CliOutput): Promise<number> {
  try {
    const given = readArguments(argv, env);
    if (given.command === 'help') {
      output.out(HELP);
      return EXIT.done;
    }
    const names = tableNames({ schema: given.schema, prefix: given.prefix });
    if (given.command === 'sql') {
      output.out(migrationSql(names, plainGrant(given), policyGrants(given)));
      return EXIT.done;
    }
    return await withDatabase(given, (dataSource) =>
      given.command === 'migrate'
        ? migrate(dataSource, names, given, output)
        : status(dataSource, names, given, output),
    );
  } catch (error) {
    const usage = error instanceof UsageError || WorkflowError.is(error);
    output.err(`${sentenceOf(error)}\n${usage ? 'See nestjs-workflow-engine --help.\n' : ''}`);
    return usage ? EXIT.usage : EXIT.failed;
  }
}

async function migrate(
  dataSource: DataSource,
  names: TableNames,
  given: CliArguments,
  { out }: CliOutput,
): Promise<number> {
  const { grant, rowLevelSecurity, dispatcher } = given;
  const applied = await runMigrations(dataSource, names, {
    grantTo: plainGrant(given),
    rowLevelSecurity: policyGrants(given),
  });
  out(applied.length > 0 ? `Applied: ${applied.join(', ')}\n` : 'Nothing to do: the tables are up to date.\n');
  if (grant !== undefined) {
    const whose = rowLevelSecurity ? `those of the owner whose session it is` : 'their rows';
    out(`Role "${grant}" may read and write ${whose}.\n`);
  }
  if (rowLevelSecurity) {
    const role = await dispatcherRole(dataSource, names);
    if (dispatcher !== undefined) out(`Role "${dispatcher}" sees all rows, as a member of "${role}".\n`);
    else if (grant !== undefined) out(`Role "${grant}" may switch to "${role}", which sees all rows.\n`);
    else out(`Role "${role}" sees all rows.\n`);
  }
  return EXIT.done;
}

/** Under row-level security the app's role gets less. */
const plainGrant = ({ grant, rowLevelSecurity }: CliArguments): string | undefined =>
  rowLevelSecurity ? undefined : grant;

function policyGrants({ grant, rowLevelSecurity, dispatcher }: CliArguments): PolicyGrants | undefined {
  if (!rowLevelSecurity) return undefined;
  return { rowsTo: grant, switchTo: dispatcher === undefined ? grant : undefined, dispatcherTo: dispatcher };
}

async function status(
  dataSource: DataSource,
  names: TableNames,
  { rowLevelSecurity }: CliArguments,
  { out }: CliOutput,
): Promise<number> {
  const pending = await pendingMigrations(dataSource, names, { rowLevelSecurity });
  out(pending.length > 0 ? `Pending: ${pending.join(', ')}\n` : 'The tables are up to date.\n');
  return pending.length > 0 ? EXIT.behind : EXIT.done;
}

async function withDatabase<T>({ url }: CliArguments, work: (dataSource: DataSource) => Promise<T>): Promise<T> {
  if (url === undefined) throw new UsageError('No database: give --url or set DATABASE_URL.');
  if (!/^postgres(ql)?:\/\//.test(url)) throw new UsageError('The URL must begin with postgres:// or postgresql://.');
  const dataSource = await new DataSource({ type: 'postgres', url, installExtensions: false }).initialize();
  try {
    return await work(dataSource);
  } finally {
    await dataSource.destroy();
  }
}

/** A refused connection says nothing itself: Node puts one error per address inside. */
function sentenceOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(sentenceOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
