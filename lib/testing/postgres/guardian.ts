import { spawn } from 'node:child_process';
import { dirname } from 'node:path';
import type { ServerAccount } from './server-account.js';

/** Watches over a throwaway server on behalf of this process. */
export interface Guardian {
  /** The server was stopped in order: nothing is left to watch. */
  dismiss(): void;
}

/**
 * Stops a throwaway server and removes its folder once this process is gone, however it went.
 *
 * A server lives in a session of its own, so neither Ctrl-C nor `kill -9` of a test run would end it. The guardian is a
 * shell that waits on a pipe from this process: the operating system closes the pipe, the shell reads the end and
 * cleans up. It is in a session of its own as well, and keeps no event loop alive.
 */
export function watchOver(
  params: Readonly<{ pgCtl: string; dataDir: string; folder: string; account: ServerAccount }>,
): Guardian {
  const script =
    'read -r word || word=gone; [ "$word" = dismissed ] || { "$1" -D "$2" -m immediate -w stop; rm -rf "$3"; }';
  const shell = spawn('/bin/sh', ['-c', script, 'guardian', params.pgCtl, params.dataDir, params.folder], {
    ...params.account.switchTo,
    cwd: dirname(params.pgCtl),
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  shell.once('error', () => undefined);
  shell.stdin.once('error', () => undefined);
  shell.unref();
  (shell.stdin as unknown as { unref(): void }).unref();
  return {
    dismiss: () => {
      shell.stdin.end('dismissed\n');
    },
  };
}
