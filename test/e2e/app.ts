import type { INestApplicationContext, ModuleMetadata } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { WorkflowHost, WorkflowModule, type WorkflowModuleOptions } from 'nestjs-workflow-engine';
import { within } from '../../lib/runtime/background/within.js';
import { freshDatabase, type FreshDatabase } from '../support/database.js';
import { registerOpen } from '../support/open-resources.js';
import { GREETING } from './greeting.js';

/** A drain without a grace takes half of it at most. */
const ABANDON_MS = 20_000;

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
  const closed = registerOpen({ kind: 'app on', name: place.name, close: () => abandon(app) });
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

/** Runs an app for the length of `work`. What fails it is what the test says, even while a body is held. */
export async function withApp<T>(options: AppOptions, work: (app: INestApplicationContext) => Promise<T>): Promise<T> {
  const app = await startApp(options);
  let answer: T;
  try {
    answer = await work(app);
  } catch (error) {
    await abandon(app);
    throw error;
  }
  await app.close();
  return answer;
}

/** Closes an app whose test has failed: bodies that wait for the test would use up the whole grace, and its time. */
async function abandon(app: INestApplicationContext): Promise<void> {
  // One that never came up has nothing to drain, and may not answer.
  const drained = (async () => app.get(WorkflowHost, { strict: false }).drain(0))();
  await within(ABANDON_MS, drained);
  await app.close().catch(() => undefined);
}
