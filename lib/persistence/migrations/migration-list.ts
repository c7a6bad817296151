import { INITIAL_TABLES } from './001-initial-tables.js';
import type { WorkflowMigration } from './workflow-migration.js';

/** Every step, in order. */
export const MIGRATIONS: readonly WorkflowMigration[] = [INITIAL_TABLES];
