import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { WakeService } from 'nestjs-workflow-engine';
import { announce, onMessage } from '../support/process-side.js';
import { scheduleModule } from './schedule-flow.js';

/** A process that wakes at instants that it is given, one after the other. */
async function boot(): Promise<void> {
  const app = await NestFactory.createApplicationContext(scheduleModule(process.env.DATABASE_URL!), {
    logger: ['error', 'warn'],
  });
  const wake = app.get(WakeService);
  onMessage<{ instants: number[] }>('wake', async ({ instants }) => {
    let started = 0;
    const errors: unknown[] = [];
    for (const instant of instants) {
      const report = await wake.wake(new Date(instant));
      started += report.schedules;
      errors.push(...report.errors);
    }
    await announce('woken', { started, errors });
  });
  await announce('ready');
}

void boot();
