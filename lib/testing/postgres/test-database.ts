import { randomBytes } from 'node:crypto';

/** The same server, another database. */
export function urlOfDatabase(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${encodeURIComponent(database)}`;
  return url.href;
}

/**
 * Creates a database and returns its URL.
 *
 * From a template it is a copy of that database's tables and rows, in some 25 ms; nobody may be connected to the
 * template meanwhile, while any number of copies may be made at once.
 *
 * @param serverUrl a database of the server, of a user who may create databases
 * @param name @default `test_` and a random word
 * @param template @default the server's own empty template
 * @publicApi
 */
export async function createDatabase(serverUrl: string, name = randomName(), template?: string): Promise<string> {
  const source = template === undefined ? '' : ` TEMPLATE ${quoteIdentifier(template)}`;
  await execute(serverUrl, `CREATE DATABASE ${quoteIdentifier(name)}${source}`);
  return urlOfDatabase(serverUrl, name);
}

/**
 * Drops a database if it exists, and breaks what connections to it are left.
 *
 * @publicApi
 */
export async function dropDatabase(serverUrl: string, name: string): Promise<void> {
  await execute(serverUrl, `DROP DATABASE IF EXISTS ${quoteIdentifier(name)} WITH (FORCE)`);
}

function randomName(): string {
  return `test_${randomBytes(6).toString('hex')}`;
}

function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

async function execute(serverUrl: string, statement: string): Promise<void> {
  // `pg` is an optional peer: only who makes databases needs it.
  const { Client } = await import('pg');
  const client = new Client({ connectionString: serverUrl });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
