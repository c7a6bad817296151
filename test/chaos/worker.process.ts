import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { announce } from '../support/process-side.js';
import { chaosModule } from './five-stages.js';

/** One worker process, with leases short enough to lose some. */
async function boot(): Promise<void> {
  for (;;) {
    try {
      const app = await NestFactory.createApplicationContext(
        chaosModule(process.env.DATABASE_URL!, {
          worker: { concurrency: Number(process.env.CHAOS_CONCURRENCY ?? 10), pollInterval: 200 },
          wake: { every: 500 },
          lease: { heartbeatInterval: 300, staleThreshold: 1500, maxLosses: 50 },
          shutdownGrace: 2000,
        }),
        { logger: ['error', 'warn'], abortOnError: false },
      );
      app.enableShutdownHooks();
      return await announce('ready');
    } catch (error) {
      // The database went while the engine was about to boot, which then fails; a supervisor would start the process again.
      // No pause: the next boot first waits for the database, as TypeORM tries until it connects.
      console.error(error);
    }
  }
}

void boot();
