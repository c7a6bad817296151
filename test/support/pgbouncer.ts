import { spawn } from 'node:child_process';
import { accessSync, chownSync, constants, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { findFreePort } from '../../lib/testing/postgres/free-port.js';
import { chooseServerAccount } from '../../lib/testing/postgres/server-account.js';
import { testServerUrl } from './database.js';
import { registerOpen } from './open-resources.js';

/** A PgBouncer in transaction mode in front of the test run's server. */
export interface Pooler {
  /** The same database and login, through it. */
  through(url: string): string;
  /** What it logged so far. */
  readonly log: string;
  stop(): Promise<void>;
}

export interface PoolerOptions {
  /** Who may come, with the passwords that it uses for the server too. */
  readonly users: Readonly<Record<string, string>>;
  /** Connections to the server for each database and user. */
  readonly poolSize: number;
}

/** Debian puts it where only root's PATH leads. */
const MORE_FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/opt/homebrew/bin'];

/** Path of the program: PGBOUNCER, or found on PATH; undefined where there is none. */
export function findPgbouncer(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const folders = [...(env.PATH ?? '').split(delimiter), ...MORE_FOLDERS].filter((folder) => folder !== '');
  const places = env.PGBOUNCER ? [env.PGBOUNCER] : folders.map((folder) => join(folder, 'pgbouncer'));
  return places.find((place) => {
    try {
      accessSync(place, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Starts one on a free port, as another user where this process is root: PgBouncer refuses to run as root. */
export async function startPooler(program: string, { users, poolSize }: PoolerOptions): Promise<Pooler> {
  const server = new URL(testServerUrl());
  const port = await findFreePort();
  const { switchTo } = await chooseServerAccount();
  const folder = mkdtempSync(join(tmpdir(), 'pgbouncer-'));
  const file = (name: string, lines: readonly string[]): string => {
    const path = join(folder, name);
    writeFileSync(path, `${lines.join('\n')}\n`, { mode: 0o600 });
    if (switchTo) chownSync(path, switchTo.uid, switchTo.gid);
    return path;
  };
  const userList = file(
    'users.txt',
    Object.entries(users).map(([name, password]) => `"${name}" "${password}"`),
  );
  const settings = file('pgbouncer.ini', [
    '[databases]',
    `* = host=${server.hostname} port=${server.port || 5432}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'pool_mode = transaction',
    'auth_type = plain',
    `auth_file = ${userList}`,
    `default_pool_size = ${poolSize}`,
    // Each transaction on the connection that was used longest ago: what is left on one is met by somebody else.
    `min_pool_size = ${poolSize}`,
    'server_round_robin = 1',
    'max_client_conn = 500',
  ]);
  if (switchTo) chownSync(folder, switchTo.uid, switchTo.gid);

  const child = spawn(program, [settings], { stdio: ['ignore', 'pipe', 'pipe'], ...switchTo });
  let log = '';
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  const closed = registerOpen({ kind: 'pgbouncer on port', name: String(port), close: stop });
  await new Promise<void>((resolve, reject) => {
    const hear = (chunk: Buffer): void => {
      log += chunk.toString();
      if (log.includes('process up')) resolve();
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.once('error', reject);
    child.once('close', (code) => reject(new Error(`pgbouncer ended with code ${code}: ${log}`)));
  });
  return {
    through(url) {
      const pooled = new URL(url);
      pooled.hostname = '127.0.0.1';
      pooled.port = String(port);
      return pooled.href;
    },
    get log() {
      return log;
    },
    async stop() {
      await stop();
      closed();
    },
  };
}
