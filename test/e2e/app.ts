import type { INestApplicationContext, ModuleMetadata } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { WorkflowModule, type WorkflowModuleOptions } from 'nestjs-workflow-engine';
import { freshDatabase, type FreshDatabase } from '../support/database.js';
import { registerOpen } from '../support/open-resources.js';
import { GREETING } from './greeting.js';

export interface AppOptions {
  readonly database?: FreshDatabase;
  readonly workflow?: WorkflowModuleOptions;
  /** Instead of TypeOrmModule and WorkflowModule. */
  readonly modules?: ModuleMetadata['imports'];
  /** Beside them. */
  readonly imports?: ModuleMetadata['imports'];
  readonly providers?: ModuleMetadata['providers'];
}

/** An app that is built and not initialised; one that is never closed fails the test file. */
export async function buildApp({
  database,
  workflow,
  modules,
  imports = [],
  providers = GREETING,
}: AppOptions = {}): Promise<TestingModule> {
  const place = database ?? (await freshDatabase());
  const own = modules ?? [
    TypeOrmModule.forRoot({ ...place.dataSourceOptions, retryAttempts: 0 }),
    WorkflowModule.forRoot(workflow),
  ];
  const app = await Test.createTestingModule({ imports: [...own, ...imports], providers }).compile();
  const close = app.close.bind(app);
  const closed = registerOpen({ kind: 'app on', name: place.name, close });
  app.close = async () => {
    closed();
    await close();
  };
  return app;
}

export async function startApp(options: AppOptions = {}): Promise<TestingModule> {
  const app = await buildApp(options);
  await app.init();
  return app;
}

/** A promise and what settles it: signals that tests wait for instead of time. */
export function signal<T = void>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((settle) => (resolve = settle));
  return { promise, resolve };
}

/** Runs an app for the length of `work`. */
export async function withApp<T>(options: AppOptions, work: (app: INestApplicationContext) => Promise<T>): Promise<T> {
  const app = await startApp(options);
  try {
    return await work(app);
  } finally {
    await app.close();
  }
}
