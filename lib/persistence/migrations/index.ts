export { createWorkflowMigrations } from './create-workflow-migrations.js';
export type { WorkflowMigrationsOptions } from './create-workflow-migrations.js';
export type { MigrationTarget } from './migration-connection.js';
export { migrationSql } from './migration-sql.js';
export { checkMigrations, pendingMigrations, runMigrations } from './run-migrations.js';
export type { RunMigrationsOptions } from './run-migrations.js';
