import { join } from 'node:path';
import { parseArgs } from 'node:util';

export interface SampleSettings {
  /** By how much each stage is slowed down, in milliseconds. */
  readonly paceMs: number;
  /** Most stages that run at once. */
  readonly concurrency: number;
  /** How many documents to analyse, the last ones of the list; all unless said. */
  readonly limit: number;
  /** Names a round of runs: the same name goes on with that round, a new one analyses everything anew. */
  readonly batch: string;
  /** HTTP port; 0 = one that is free. */
  readonly port: number;
  /** PostgreSQL to use; undefined = an embedded one whose data is kept. */
  readonly databaseUrl: string | undefined;
  /** Where texts and reports are left. */
  readonly workingFolder: string;
  /** End when every document is done, instead of serving HTTP until Ctrl-C. */
  readonly exit: boolean;
}

/** What a person typed wrong, in a sentence for them: no stack needed. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

export const USAGE = `npm start -- [--pace <ms per stage>] [--concurrency <stages at once>] [--limit <documents>] [--batch <name>] [--port <http>] [--exit]
DATABASE_URL=postgres://…  uses your PostgreSQL instead of an embedded one.`;

/** @throws SettingsError for an unknown option or a value that is no such number */
export function readSettings(args: readonly string[], environment: NodeJS.ProcessEnv): SampleSettings {
  const { pace, concurrency, limit, batch, port, exit } = parse(args);
  return {
    paceMs: wholeNumber('--pace', pace, 0),
    concurrency: wholeNumber('--concurrency', concurrency, 1),
    limit: limit === undefined ? Number.POSITIVE_INFINITY : wholeNumber('--limit', limit, 1),
    batch,
    port: wholeNumber('--port', port, 0),
    databaseUrl: environment['DATABASE_URL'] || undefined,
    workingFolder: environment['SAMPLE_FOLDER'] || join('.data', '01-documents'),
    exit: exit ?? false,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        pace: { type: 'string', default: '0' },
        concurrency: { type: 'string', default: '8' },
        limit: { type: 'string' },
        batch: { type: 'string', default: 'first' },
        port: { type: 'string', default: '0' },
        exit: { type: 'boolean' },
      },
    }).values;
  } catch (error) {
    throw new SettingsError(`${(error as Error).message}\n${USAGE}`);
  }
}

function wholeNumber(option: string, text: string, least: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && Number.isSafeInteger(value)) return value;
  throw new SettingsError(`${option} takes a whole number from ${least} on, not "${text}".\n${USAGE}`);
}
