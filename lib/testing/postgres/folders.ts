import { chmod, lstat, mkdir } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedPostgresFailedError } from './embedded-postgres.errors.js';
import { isReachable } from './server-account.js';
import type { ServerAccount } from './server-account.js';

const PREFIX = 'nestjs-workflow-engine';

/**
 * The temporary folder that this process and the server's user both reach.
 *
 * TMPDIR may point below root's home; then the system-wide ones stand in.
 */
export async function chooseTemporaryFolder(account: ServerAccount): Promise<string> {
  for (const folder of [tmpdir(), '/tmp', '/var/tmp']) {
    if (await isReachable(folder, account)) return folder;
  }
  throw new EmbeddedPostgresFailedError(
    'find a temporary folder',
    `user ${account.uid} can enter neither ${tmpdir()} nor /tmp nor /var/tmp. Set TMPDIR to a folder open to it.`,
  );
}

/** Where a copy of the binaries may live, best first: the second serves machines that mount /tmp with noexec. */
export async function binaryFolders(name: string, account: ServerAccount): Promise<string[]> {
  const folder = `${PREFIX}-${name}-${process.getuid?.() ?? 0}`;
  const second = account.switchTo ? '/var/tmp' : join(homedir(), '.cache');
  return [join(await chooseTemporaryFolder(account), folder), join(second, folder)];
}

/**
 * Where a server that outlives its process keeps its data: `.data/postgres` below the working directory; for root a
 * state folder of that directory's own, since the server's user seldom reaches the directory itself.
 */
export function persistentFolder(account: ServerAccount, cwd: string = process.cwd()): string {
  if (account.switchTo === undefined) return join(cwd, '.data', 'postgres');
  const place = createHash('sha256').update(cwd).digest('hex').slice(0, 12);
  return join('/var/tmp', `${PREFIX}-${place}`, 'postgres');
}

/**
 * Makes a folder that others may enter and only we may write, whatever the umask.
 *
 * Names in shared temporary folders can be guessed: a folder, or a link, that somebody else put there is refused.
 */
export async function claimFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o755 });
  const entry = await lstat(folder);
  const uid = process.getuid?.() ?? entry.uid;
  if (!entry.isDirectory() || entry.uid !== uid) {
    throw new EmbeddedPostgresFailedError(
      `use ${folder}`,
      `it is not a folder of user ${uid}, who runs this process. Remove it.`,
    );
  }
  await chmod(folder, 0o755);
}
