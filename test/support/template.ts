import { DataSource } from 'typeorm';
import { runMigrations } from '../../lib/persistence/migrations/index.js';
import { tableNames } from '../../lib/persistence/table-names.js';
import { guardStates } from './guarded-states.js';

/**
 * Fills the database that every test database is a copy of, with the engine's tables under their default names, whose rows
 * only move as the charts say; runs once a test run, before the first test.
 *
 * Runs in plain Node through `register-typescript.mjs`, not in Jest. Every connection must be closed on return: a
 * database that somebody is connected to can't be copied.
 */
export async function prepareTemplate(url: string): Promise<void> {
  const dataSource = await new DataSource({ type: 'postgres', url }).initialize();
  await runMigrations(dataSource, tableNames());
  await guardStates(dataSource);
  await dataSource.destroy();
}
