import { execFile } from 'node:child_process';
import type { ServerAccount } from './server-account.js';

/** What a program that ended badly left behind. */
export interface RunFailure extends Error {
  readonly stdout: string;
  readonly stderr: string;
  /** Exit status, or the operating system's code when it could not be started at all. */
  readonly code?: number | string;
}

/**
 * Runs a program to its end and returns what it printed; rejects with a {@link RunFailure}.
 *
 * `cwd` must be a folder that the account can enter: PostgreSQL's tools look at their working directory.
 */
export function run(
  file: string,
  args: readonly string[],
  options: Readonly<{ account?: ServerAccount; cwd?: string }> = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(
      file,
      [...args],
      { ...options.account?.switchTo, cwd: options.cwd, encoding: 'utf8', maxBuffer: 16 * 1024 * 1024 },
      (error, stdout, stderr) => {
        if (error) reject(Object.assign(error, { stdout, stderr }));
        else resolve(stdout.trim());
      },
    );
  });
}
