import { createDatabase, openTestServer, type TestServer } from '../../lib/testing/index.js';

/** One PostgreSQL for all rounds, with its default durability; a fresh database a round. */
export async function openBenchServer(): Promise<{ server: TestServer; freshUrl(): Promise<string> }> {
  // fsync and synchronous_commit stay as PostgreSQL has them: durable work is what is measured.
  const server = await openTestServer({
    settings: { fsync: 'on', synchronous_commit: 'on', shared_buffers: '256MB', max_wal_size: '4GB' },
  });
  return { server, freshUrl: () => createDatabase(server.url()) };
}

export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;

export const percentile = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? NaN;

/** `--runs 2000` as `{ runs: 2000 }`, over defaults. */
export function options<T extends Record<string, number>>(defaults: T): T {
  const given = process.argv.slice(2);
  return Object.fromEntries(
    Object.entries(defaults).map(([name, value]) => {
      const at = given.indexOf(`--${name}`);
      return [name, at < 0 ? value : Number(given[at + 1])];
    }),
  ) as T;
}
