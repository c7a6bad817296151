import type { Provider } from '@nestjs/common';
import type { TestingModule } from '@nestjs/testing';
import { ClsModule, ClsService, ClsServiceManager } from 'nestjs-cls';
import type { RowLevelSecurityOptions, WorkflowModuleOptions } from 'nestjs-workflow-engine';
import { buildApp } from '../../e2e/app.js';
import { PASSWORD, type GuardedDatabase } from './guarded-database.js';
import { LIFE } from './life.js';

export type Form = 'switching' | 'login';

/** The option for a database that was guarded in this form. */
export const securityOf = (database: GuardedDatabase, form: Form): true | RowLevelSecurityOptions =>
  form === 'switching' ? true : { dispatcher: { username: database.engine, password: PASSWORD } };

/** An app that logs in as the app's role, not initialised; whose request it is stands in CLS. */
export function buildGuardedApp(
  database: GuardedDatabase,
  form: Form,
  workflow: WorkflowModuleOptions = {},
  providers: Provider[] = LIFE,
): Promise<TestingModule> {
  const { dataSourceOptions } = database;
  return buildApp({
    database: { ...database, dataSourceOptions: { ...dataSourceOptions, url: database.urlOf(database.app) } },
    imports: [ClsModule.forRoot({ global: true })],
    providers,
    workflow: {
      ...workflow,
      owners: {
        resolve: (cls) => cls.get('team') as string,
        rowLevelSecurity: securityOf(database, form),
        ...workflow.owners,
      },
    },
  });
}

export async function guardedApp(...given: Parameters<typeof buildGuardedApp>): Promise<TestingModule> {
  const app = await buildGuardedApp(...given);
  await app.init();
  return app;
}

/** As in a request of that owner. */
export function inRequestOf<T>(owner: string | null, work: () => Promise<T>): Promise<T> {
  const cls: ClsService = ClsServiceManager.getClsService();
  return cls.run(() => {
    cls.set('team', owner);
    return work();
  });
}
