import { containerEngineAnswers } from './container-engine.js';
import { startEmbeddedPostgres } from './embedded-postgres.js';
import { urlOfDatabase } from './test-database.js';

/** @publicApi */
export interface TestServerOptions {
  /**
   * Server settings, such as `{ fsync: 'off' }`. Ignored for a server of your own.
   * @default `{ max_connections: 300 }`, to which these are added
   */
  readonly settings?: Readonly<Record<string, string | number | boolean>>;
  /** Environment to read DATABASE_URL and DOCKER_HOST from. @default process.env */
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * A PostgreSQL server that tests may create databases on.
 *
 * @publicApi
 */
export interface TestServer {
  /** Where it came from: DATABASE_URL, Docker, or the binaries of `embedded-postgres`. */
  readonly kind: 'external' | 'container' | 'embedded';
  /** Connection URL of a database. @param database the server's maintenance database unless given */
  url(database?: string): string;
  /** Stops the server; one of your own is left alone. */
  stop(): Promise<void>;
}

type Settings = NonNullable<TestServerOptions['settings']>;

const IMAGE = 'postgres:18-alpine';

/**
 * Opens a server for a test run: the one DATABASE_URL names, whose user must be allowed to create databases; else one
 * in a container where a Docker engine answers and `@testcontainers/postgresql` is installed; else an embedded one.
 *
 * @throws EmbeddedPostgresMissingError when none of the three is there
 * @publicApi
 */
export async function openTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const env = options.env ?? process.env;
  if (env.DATABASE_URL) return externalServer(env.DATABASE_URL);
  const settings: Settings = { max_connections: 300, ...options.settings };
  return (await openContainer(settings, env)) ?? (await openEmbedded(settings));
}

function externalServer(url: string): TestServer {
  return {
    kind: 'external',
    url: (database) => (database === undefined ? url : urlOfDatabase(url, database)),
    stop: () => Promise.resolve(),
  };
}

async function openContainer(settings: Settings, env: NodeJS.ProcessEnv): Promise<TestServer | undefined> {
  if (!(await containerEngineAnswers(env))) return undefined;
  try {
    const { PostgreSqlContainer } = await import('@testcontainers/postgresql');
    const container = await new PostgreSqlContainer(IMAGE)
      .withCommand(['postgres', ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])])
      .start();
    const url = container.getConnectionUri();
    return {
      kind: 'container',
      url: (database) => (database === undefined ? url : urlOfDatabase(url, database)),
      stop: async () => {
        await container.stop();
      },
    };
  } catch (error) {
    // Not installed, or the image can't be had (no network): the embedded server needs neither.
    process.emitWarning(`No PostgreSQL container, falling back to the embedded server: ${String(error)}`);
    return undefined;
  }
}

async function openEmbedded(settings: Settings): Promise<TestServer> {
  const server = await startEmbeddedPostgres({ settings });
  return { kind: 'embedded', url: (database) => server.url(database), stop: () => server.stop() };
}
