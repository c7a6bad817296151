import { chmod, chown, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { EmbeddedPostgresFailedError } from './embedded-postgres.errors.js';
import { isRunning, mayBeServer } from './process-state.js';
import type { PostgresBinaries } from './postgres-binaries.js';
import { run } from './run.js';
import type { RunFailure } from './run.js';
import type { ServerAccount } from './server-account.js';

/** A server that answers, as its data folder tells. */
export interface LiveServer {
  readonly pid: number;
  readonly port: number;
}

/**
 * The database must be UTF-8 whatever the environment says, else it becomes SQL_ASCII. Not every C library knows
 * C.UTF-8; from PostgreSQL 17 on it is also built in.
 */
const LOCALES = [
  ['--locale=C.UTF-8'],
  ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
] as const;

/**
 * Makes a database cluster in `dataDir` unless one is there.
 *
 * It is made beside and renamed, so that a crash halfway leaves nothing that looks like a cluster, and of two
 * processes that do it at once both go on with the same one.
 */
export async function initialiseDataFolder(
  binaries: PostgresBinaries,
  dataDir: string,
  account: ServerAccount,
): Promise<void> {
  if (await isInitialised(dataDir)) return;
  const draft = `${dataDir}.${randomBytes(6).toString('hex')}`;
  try {
    await mkdir(draft, { mode: 0o700 });
    await chmod(draft, 0o700);
    if (account.switchTo) await chown(draft, account.switchTo.uid, account.switchTo.gid);
    await initdb(binaries, draft, account);
    await rename(draft, dataDir);
  } catch (error) {
    if (!(await isInitialised(dataDir))) throw error;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** The server running on a data folder, if it answers; what a killed one left behind is not taken for a server. */
export async function findLiveServer(dataDir: string): Promise<LiveServer | undefined> {
  const { pid, port, state } = await readLock(dataDir);
  if (state !== 'ready' || !mayBeServer(pid) || !(await answers(port))) return undefined;
  return { pid, port };
}

/**
 * Removes the lock of a server that is gone.
 *
 * PostgreSQL does so itself, except when the number went to another process of the same user, or when the dead server
 * was never collected: both are common in containers, and it would then refuse to start for good.
 */
export async function removeStaleLock(dataDir: string): Promise<void> {
  const { pid } = await readLock(dataDir);
  if (pid > 0 && !mayBeServer(pid)) await rm(join(dataDir, 'postmaster.pid'), { force: true });
}

/**
 * Takes charge of a persistent server unless the process in charge of it still lives; whoever is in charge stops it.
 */
export async function takeCharge(dataDir: string): Promise<boolean> {
  const file = `${dataDir}.in-charge`;
  const holder = Number(await readFile(file, 'utf8').catch(() => '0'));
  if (holder > 0 && holder !== process.pid && isRunning(holder)) return false;
  await writeFile(file, String(process.pid));
  return true;
}

/** The last lines of the server's log, for error messages. */
export async function readLogTail(dataDir: string, lines = 12): Promise<string> {
  const text = await readFile(join(dataDir, 'server.log'), 'utf8').catch(() => '');
  return text.trimEnd().split('\n').slice(-lines).join('\n');
}

async function readLock(dataDir: string): Promise<LiveServer & { state: string }> {
  const text = await readFile(join(dataDir, 'postmaster.pid'), 'utf8').catch(() => '');
  const lines = text.split('\n');
  return { pid: Number(lines[0]), port: Number(lines[3]), state: lines[7]?.trim() ?? '' };
}

async function isInitialised(dataDir: string): Promise<boolean> {
  return (await stat(join(dataDir, 'PG_VERSION')).catch(() => undefined)) !== undefined;
}

async function initdb(binaries: PostgresBinaries, folder: string, account: ServerAccount): Promise<void> {
  const args = ['-D', folder, '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--no-sync', '--no-instructions'];
  let refusal: RunFailure | undefined;
  for (const locale of LOCALES) {
    try {
      await run(join(binaries.bin, 'initdb'), [...args, ...locale], { account, cwd: dirname(binaries.bin) });
      return;
    } catch (error) {
      refusal ??= error as RunFailure;
    }
  }
  const detail = refusal?.stderr || String(refusal);
  throw new EmbeddedPostgresFailedError(`make a database cluster in ${folder}`, detail, { cause: refusal });
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', timeout: 2_000 });
    const settle = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => settle(true));
    socket.once('error', () => settle(false));
    socket.once('timeout', () => settle(false));
  });
}
