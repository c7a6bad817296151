import { parseArgs } from 'node:util';

export interface OnboardingSettings {
  /** Serve HTTP until Ctrl-C, on the real clock, instead of playing the story. */
  readonly serve: boolean;
  /** HTTP port; 0 = one that is free. */
  readonly port: number;
}

/** What a person typed wrong, in a sentence for them: no stack needed. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

export const USAGE = `npm run sample:02 -- [--serve] [--port <http>]
DATABASE_URL=postgres://…  uses your server, on which a database is made and dropped again.`;

/** @throws SettingsError */
export function readSettings(args: readonly string[]): OnboardingSettings {
  const { serve = false, port = '0' } = parse(args);
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535)
    throw new SettingsError(`--port takes a number from 0 to 65535, not "${port}".\n${USAGE}`);
  return { serve, port: Number(port) };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: { serve: { type: 'boolean' }, port: { type: 'string' } } }).values;
  } catch (error) {
    throw new SettingsError(`${(error as Error).message}\n${USAGE}`);
  }
}
