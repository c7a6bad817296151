import type { MigrationInterface, QueryRunner } from 'typeorm';
import { DEFAULT_TABLE_PREFIX, tableNames } from '../table-names.js';
import type { TableNames, WorkflowTablesOptions } from '../table-names.js';
import { POLICY_VERSION } from '../row-level-security/row-policies.js';
import { migrationBlock, policyStatements } from './migration-sql.js';
import { MIGRATIONS } from './migration-list.js';
import type { WorkflowMigration } from './workflow-migration.js';

/** @publicApi */
export interface WorkflowMigrationsOptions extends WorkflowTablesOptions {
  /** Also row-level security on all tables, for `owners.rowLevelSecurity`. @default false */
  readonly rowLevelSecurity?: boolean;
}

/**
 * The engine's migrations for a host that runs its own: `new DataSource({ migrations: [...mine, ...createWorkflowMigrations()] })`.
 *
 * They may be mixed with the other ways (`migrations: 'run'`, the command line): what one of them applied the others leave
 * alone. Reverting one is refused, since it would take runs with it.
 *
 * With `rowLevelSecurity` the last of them puts the policies on all tables (OWNER-4). It has another name whenever tables or policies
 * were added, so that it runs again then. It makes two roles, for which the role that runs it needs CREATEROLE.
 *
 * @throws InvalidOptionsError for a schema or prefix that is no plain identifier
 * @publicApi
 */
export function createWorkflowMigrations({
  schema,
  tablePrefix,
  rowLevelSecurity = false,
}: WorkflowMigrationsOptions = {}): (new () => MigrationInterface)[] {
  const names = tableNames({ schema, prefix: tablePrefix });
  const steps = MIGRATIONS.map((step) => migrationClass(step, names, [migrationBlock(step, names)]));
  if (!rowLevelSecurity) return steps;
  const timestamp = MIGRATIONS.at(-1)!.timestamp + POLICY_VERSION;
  return [...steps, migrationClass({ name: 'row-level-security', timestamp }, names, policyStatements(names))];
}

function migrationClass(
  migration: Pick<WorkflowMigration, 'name' | 'timestamp'>,
  names: TableNames,
  statements: readonly string[],
): new () => MigrationInterface {
  const name = typeormName(migration, names);
  return class implements MigrationInterface {
    readonly name = name;

    async up(queryRunner: QueryRunner): Promise<void> {
      for (const statement of statements) await queryRunner.query(statement);
    }

    down(): Promise<void> {
      return Promise.reject(
        new Error(`"${name}" can't be reverted: it would drop runs. Drop the tables yourself if you mean it.`),
      );
    }
  };
}

/** TypeORM keeps names apart in one table and reads the order from the last 13 digits. */
function typeormName(
  { name, timestamp }: Pick<WorkflowMigration, 'name' | 'timestamp'>,
  { schema, prefix }: TableNames,
): string {
  const words = name.split('-').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  const place = [schema, prefix === DEFAULT_TABLE_PREFIX ? undefined : prefix].filter((part) => part !== undefined);
  return `Workflow${words.join('')}${place.map((part) => `_${part}_`).join('')}${timestamp}`;
}
