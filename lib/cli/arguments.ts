import { parseArgs } from 'node:util';

export const COMMANDS = ['migrate', 'status', 'sql'] as const;
export type Command = (typeof COMMANDS)[number];

export interface CliArguments {
  readonly command: Command | 'help';
  readonly url: string | undefined;
  readonly schema: string | undefined;
  readonly prefix: string | undefined;
  readonly grant: string | undefined;
  readonly rowLevelSecurity: boolean;
  readonly dispatcher: string | undefined;
}

/** What was typed makes no sense; the message says what to type. */
export class UsageError extends Error {}

/**
 * Reads the command line.
 *
 * @param argv without the program's name
 * @throws UsageError
 */
export function readArguments(argv: readonly string[], env: NodeJS.ProcessEnv): CliArguments {
  const { values, positionals } = parse(argv);
  const [command, ...rest] = positionals;
  const { url = env['DATABASE_URL'], schema, prefix, grant, dispatcher } = values;
  const rowLevelSecurity = values['row-level-security'] ?? false;
  const given = { url: url === '' ? undefined : url, schema, prefix, grant, rowLevelSecurity, dispatcher };
  if (values.help || command === undefined || command === 'help') return { ...given, command: 'help' };
  if (!isCommand(command)) throw new UsageError(`There is no command "${command}". There are: ${COMMANDS.join(', ')}.`);
  if (rest.length > 0) throw new UsageError(`"${rest.join(' ')}" is too much: one command at a time.`);
  if (dispatcher !== undefined && !rowLevelSecurity) throw new UsageError('--dispatcher needs --row-level-security.');
  return { ...given, command };
}

function parse(argv: readonly string[]) {
  const text = { type: 'string' } as const;
  const options = {
    url: text,
    schema: text,
    prefix: text,
    grant: text,
    'row-level-security': { type: 'boolean' },
    dispatcher: text,
    help: { type: 'boolean', short: 'h' },
  } as const;
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function isCommand(word: string): word is Command {
  return (COMMANDS as readonly string[]).includes(word);
}
