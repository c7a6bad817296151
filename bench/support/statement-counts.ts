import pg from 'pg';

/** Statements and commits that a database has seen, by its own counters. */
export interface DatabaseCounts {
  readonly commits: number;
  readonly walBytes: number;
}

export async function readCounts(url: string): Promise<DatabaseCounts> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query(
      `SELECT xact_commit::float8 AS commits, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS wal FROM pg_stat_database WHERE datname = current_database()`,
    );
    return { commits: rows[0].commits, walBytes: rows[0].wal };
  } finally {
    await client.end();
  }
}

/** Counts what goes over the wire from this process: each query of any `pg` client. */
export function countStatements(): { read(): number; stop(): void } {
  let statements = 0;
  const original = pg.Client.prototype.query;
  pg.Client.prototype.query = function counted(this: pg.Client, ...parameters: unknown[]) {
    statements += 1;
    return (original as (...values: unknown[]) => unknown).apply(this, parameters);
  } as typeof original;
  return { read: () => statements, stop: () => void (pg.Client.prototype.query = original) };
}
