import type { MigrationInterface, QueryRunner } from 'typeorm';
import { DEFAULT_TABLE_PREFIX, tableNames } from '../table-names.js';
import type { TableNames, WorkflowTablesOptions } from '../table-names.js';
import { migrationBlock } from './migration-sql.js';
import { MIGRATIONS } from './migration-list.js';
import type { WorkflowMigration } from './workflow-migration.js';

/**
 * The engine's migrations for a host that runs its own: `new DataSource({ migrations: [...mine, ...createWorkflowMigrations()] })`.
 *
 * They may be mixed with the other ways (`migrations: 'run'`, the command line): what one of them applied the others leave
 * alone. Reverting one is refused, since it would take runs with it.
 *
 * @throws InvalidOptionsError for a schema or prefix that is no plain identifier
 * @publicApi
 */
export function createWorkflowMigrations({
  schema,
  tablePrefix,
}: WorkflowTablesOptions = {}): (new () => MigrationInterface)[] {
  const names = tableNames({ schema, prefix: tablePrefix });
  return MIGRATIONS.map((migration) => migrationClass(migration, names));
}

function migrationClass(migration: WorkflowMigration, names: TableNames): new () => MigrationInterface {
  const name = typeormName(migration, names);
  return class implements MigrationInterface {
    readonly name = name;

    async up(queryRunner: QueryRunner): Promise<void> {
      await queryRunner.query(migrationBlock(migration, names));
    }

    down(): Promise<void> {
      return Promise.reject(
        new Error(`"${name}" can't be reverted: it would drop runs. Drop the tables yourself if you mean it.`),
      );
    }
  };
}

/** TypeORM keeps names apart in one table and reads the order from the last 13 digits. */
function typeormName({ name, timestamp }: WorkflowMigration, { schema, prefix }: TableNames): string {
  const words = name.split('-').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  const place = [schema, prefix === DEFAULT_TABLE_PREFIX ? undefined : prefix].filter((part) => part !== undefined);
  return `Workflow${words.join('')}${place.map((part) => `_${part}_`).join('')}${timestamp}`;
}
