import { createServer } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { containerEngineAnswers } from '../../../../lib/testing/postgres/container-engine.js';
import { createDatabase, dropDatabase, openTestServer } from '../../../../lib/testing/postgres/index.js';
import { freshDatabase, testServerUrl } from '../../../support/database.js';

describe('a test server', () => {
  it('is the one that DATABASE_URL names, and is left running', async () => {
    const server = await openTestServer({
      env: { DATABASE_URL: 'postgres://me:secret@db.example:6543/main?ssl=true' },
    });
    expect(server.kind).toBe('external');
    expect(server.url()).toBe('postgres://me:secret@db.example:6543/main?ssl=true');
    expect(server.url('other one')).toBe('postgres://me:secret@db.example:6543/other%20one?ssl=true');
    await server.stop();
  });

  it('comes from a container only where an engine answers', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'engine-'));
    const socket = join(folder, 'docker.sock');
    const engine = createServer((request, response) => {
      response.statusCode = request.url === '/_ping' ? 200 : 404;
      response.end();
    });
    await new Promise<void>((listening) => engine.listen(socket, listening));
    try {
      expect(await containerEngineAnswers({ DOCKER_HOST: `unix://${socket}` })).toBe(true);
      expect(await containerEngineAnswers({ DOCKER_HOST: `unix://${socket}.other` })).toBe(false);
      expect(await containerEngineAnswers({ DOCKER_HOST: 'ssh://somewhere' })).toBe(false);
    } finally {
      await new Promise((closed) => engine.close(closed));
      await rm(folder, { recursive: true });
    }
  });
});

describe('a test database', () => {
  it('is a copy of its template, with any name, and a stranger to its siblings', async () => {
    const template = await freshDatabase({ empty: true });
    const pool = template.openPool();
    await pool.query('CREATE TABLE kept AS SELECT 42 AS answer');
    await pool.end();
    const name = 'it"s – a name';
    const copy = await createDatabase(testServerUrl(), name, template.name);
    const sibling = await freshDatabase({ empty: true });
    try {
      const dataSource = await sibling.openDataSource({ url: copy });
      expect(await dataSource.query('SELECT answer, current_database() AS name FROM kept')).toEqual([
        { answer: 42, name },
      ]);
      await dataSource.destroy();
      const other = await sibling.openDataSource();
      await expect(other.query('SELECT * FROM kept')).rejects.toThrow('does not exist');
      await other.destroy();
    } finally {
      await dropDatabase(testServerUrl(), name);
    }
  });

  it('is dropped though somebody is connected, and dropping it twice does no harm', async () => {
    const database = await freshDatabase();
    const pool = database.openPool();
    await pool.query('SELECT 1');
    await database.drop();
    await database.drop();
    await expect(pool.query('SELECT 1')).rejects.toThrow();
    await pool.end();
  });
});
