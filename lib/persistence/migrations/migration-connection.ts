import type { DataSource } from 'typeorm';
import { EnginePool } from '../engine-pool.js';

/** What migrations run on: the engine's pool, or any initialised DataSource whose role may create tables. */
export type MigrationTarget = EnginePool | DataSource;

export type MigrationQuery = (sql: string, values?: unknown[]) => Promise<unknown[]>;

/** Runs work in one READ COMMITTED transaction; what it creates is there whole or not at all. */
export async function inMigrationTransaction<T>(
  target: MigrationTarget,
  work: (query: MigrationQuery) => Promise<T>,
): Promise<T> {
  return target instanceof EnginePool ? onOwnClient(target, work) : onQueryRunner(target, work);
}

/** Not on the pool's connections: their query timeout is meant for statements of milliseconds. */
async function onOwnClient<T>(pool: EnginePool, work: (query: MigrationQuery) => Promise<T>): Promise<T> {
  const client = await pool.connectListener();
  try {
    await client.query({ text: 'BEGIN ISOLATION LEVEL READ COMMITTED' });
    const answer = await work(async (text, values) => (await client.query({ text, values })).rows);
    await client.query({ text: 'COMMIT' });
    return answer;
  } finally {
    // Ends the transaction too, if it is still open.
    await client.end();
  }
}

async function onQueryRunner<T>(dataSource: DataSource, work: (query: MigrationQuery) => Promise<T>): Promise<T> {
  const runner = dataSource.createQueryRunner('master');
  try {
    await runner.startTransaction('READ COMMITTED');
    const answer = await work(async (sql, values) => (await runner.query(sql, values)) as unknown[]);
    await runner.commitTransaction();
    return answer;
  } catch (error) {
    // What went wrong counts, not that the rollback then failed too.
    if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
    throw error;
  } finally {
    await runner.release();
  }
}
