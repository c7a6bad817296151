import { DataSource } from 'typeorm';
import type { OpenStorage } from '../composition/engine-storage.js';
import { openPostgresStorage, postgresStorageOn } from '../composition/postgres-storage.js';
import { createDatabase, dropDatabase, openTestServer } from './postgres/index.js';

/** A database that exists as long as its tester. */
export interface TesterDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/** Creates a database on the server of a URL, or on one that is started for it. */
export async function createTesterDatabase(serverUrl: string | undefined): Promise<TesterDatabase> {
  if (serverUrl !== undefined) return databaseOn(serverUrl, async () => {});
  const server = await openTestServer({ settings: { fsync: 'off' } });
  try {
    return await databaseOn(server.url(), () => server.stop());
  } catch (error) {
    await server.stop();
    throw error;
  }
}

async function databaseOn(serverUrl: string, stopServer: () => Promise<void>): Promise<TesterDatabase> {
  const url = await createDatabase(serverUrl);
  const name = new URL(url).pathname.slice(1);
  return {
    url,
    drop: async () => {
      await dropDatabase(serverUrl, name);
      await stopServer();
    },
  };
}

/** Opens the engine's store in a database of its own, beside whatever the host's DataSource is connected to. */
export function openStorageAt(url: string): OpenStorage {
  return ({ options }) =>
    postgresStorageOn(new DataSource({ type: 'postgres', url }), { ...options, dataSource: null, migrations: 'run' });
}

/** Opens it where the host's DataSource is, with its tables made first: a fresh database has none. */
export const openHostStorage: OpenStorage = (request) => {
  return openPostgresStorage({ ...request, options: { ...request.options, migrations: 'run' } });
};
