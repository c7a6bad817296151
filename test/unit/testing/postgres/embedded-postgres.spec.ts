import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { startEmbeddedPostgres } from '../../../../lib/testing/postgres/index.js';
import type { EmbeddedPostgres, EmbeddedPostgresOptions } from '../../../../lib/testing/postgres/index.js';
import { registerOpen } from '../../../support/open-resources.js';

async function start(options?: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres(options);
  registerOpen({ kind: 'server', name: server.dataDir, close: () => server.stop('immediate'), automatic: true });
  return server;
}

async function ask(url: string, statement: string): Promise<unknown> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(statement);
    return Object.values(rows[0] ?? {})[0];
  } finally {
    await client.end();
  }
}

async function stateFolder(): Promise<string> {
  // Open to others: as root the server runs as another user, who must get in.
  const folder = await mkdtemp(join(tmpdir(), 'workflow-state-'));
  await chmod(folder, 0o755);
  registerOpen({ kind: 'folder', name: folder, close: () => rm(folder, { recursive: true }), automatic: true });
  return folder;
}

describe('a throwaway server', () => {
  let server: EmbeddedPostgres;

  beforeAll(async () => {
    server = await start({ settings: { max_connections: 37, application_name: "o'clock" } });
  });

  it('speaks UTF-8 and keeps fsync on, whatever the environment says', async () => {
    expect(await ask(server.url(), 'SHOW server_encoding')).toBe('UTF8');
    expect(await ask(server.url(), `SELECT upper('straßenbahn é')`)).toMatch(/É$/);
    expect(await ask(server.url(), 'SHOW fsync')).toBe('on');
  });

  it('takes settings, quotes in them included', async () => {
    expect(await ask(server.url(), 'SHOW max_connections')).toBe('37');
    expect(await ask(server.url(), "SELECT reset_val FROM pg_settings WHERE name = 'application_name'")).toBe(
      "o'clock",
    );
  });

  it('has a process group of its own, so that Ctrl-C in the terminal does not reach it', async () => {
    // Signal 0 to the group that the server leads: there is one only if it leads.
    expect(() => process.kill(-server.pid, 0)).not.toThrow();
  });

  it('restarts on the same port with its data, after a crash as well', async () => {
    const { port, pid } = server;
    await ask(server.url(), 'CREATE TABLE kept AS SELECT 42 AS answer');
    await server.restart();
    expect(server.port).toBe(port);
    expect(server.pid).not.toBe(pid);
    await server.restart('immediate');
    expect(await ask(server.url(), 'SELECT answer FROM kept')).toBe(42);
  });

  it('restarts after its server was killed', async () => {
    const { port, pid } = server;
    process.kill(pid, 'SIGKILL');
    await server.restart();
    expect(server.port).toBe(port);
    expect(server.pid).not.toBe(pid);
    expect(await ask(server.url(), 'SELECT 1')).toBe(1);
  });

  it('leaves nothing when it stops, and stopping twice does no harm', async () => {
    const folder = dirname(server.dataDir);
    expect(existsSync(folder)).toBe(true);
    await server.stop();
    await server.stop();
    expect(existsSync(folder)).toBe(false);
    await expect(ask(server.url(), 'SELECT 1')).rejects.toThrow('ECONNREFUSED');
  });
});

describe('a persistent server', () => {
  it('is used again while it runs, and keeps its data over a stop', async () => {
    const dataDir = join(await stateFolder(), 'data');
    const first = await start({ dataDir });
    await ask(first.url(), 'CREATE TABLE kept AS SELECT 42 AS answer');

    const second = await start({ dataDir });
    expect(second).toMatchObject({ reused: true, port: first.port, pid: first.pid });

    await first.stop();
    const third = await start({ dataDir });
    expect(third.reused).toBe(false);
    expect(await ask(third.url(), 'SELECT answer FROM kept')).toBe(42);
  });

  it('is initialised once and started once when two ask at the same moment', async () => {
    const dataDir = join(await stateFolder(), 'data');
    const servers = await Promise.all([start({ dataDir }), start({ dataDir }), start({ dataDir })]);
    expect(new Set(servers.map(({ pid }) => pid)).size).toBe(1);
    expect(servers.filter(({ reused }) => !reused)).toHaveLength(1);
  });

  it('starts over the lock of a killed server', async () => {
    const dataDir = join(await stateFolder(), 'data');
    const first = await start({ dataDir });
    const gone = first.pid;
    process.kill(gone, 'SIGKILL');
    const second = await start({ dataDir });
    expect(second.pid).not.toBe(gone);
    expect(await ask(second.url(), 'SELECT 1')).toBe(1);
  });

  it('is not started on a port that is taken: the error carries what PostgreSQL said', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    registerOpen({ kind: 'listener', name: 'holder', close: () => holder.close(), automatic: true });
    await once(holder, 'listening');
    const { port } = holder.address() as AddressInfo;
    const dataDir = join(await stateFolder(), 'data');
    await expect(start({ dataDir, port })).rejects.toMatchObject({
      code: 'EMBEDDED_POSTGRES_FAILED',
      message: expect.stringContaining('Address already in use') as string,
    });
    expect(statSync(dataDir).isDirectory()).toBe(true);
  });
});
