import { createDatabase, startEmbeddedPostgres } from 'nestjs-workflow-engine/testing';

const DATABASE = 'sample_01_documents';
/** PostgreSQL's code for a database that is there. */
const DUPLICATE_DATABASE = '42P04';

export interface SampleDatabase {
  readonly url: string;
  /** For people: what is used, and where its data lies. */
  readonly description: string;
  /** To be called when nothing uses it any more. The data stays. */
  stop(): Promise<void>;
}

/**
 * The database that DATABASE_URL names, or one on an embedded PostgreSQL on a free port whose data is kept for the next
 * start.
 */
export async function openDatabase(url: string | undefined): Promise<SampleDatabase> {
  if (url) {
    const { host, pathname } = new URL(url);
    return { url, description: `database ${pathname.slice(1)} on ${host} (DATABASE_URL)`, stop: async () => undefined };
  }
  const server = await startEmbeddedPostgres({ persistent: true });
  try {
    await createDatabase(server.url(), DATABASE);
  } catch (error) {
    if ((error as { code?: string }).code !== DUPLICATE_DATABASE) {
      await server.stop();
      throw error;
    }
  }
  const description = `embedded PostgreSQL on port ${server.port}, data in ${server.dataDir}`;
  return { url: server.url(DATABASE), description, stop: () => server.stop() };
}
