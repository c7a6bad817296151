import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { WorkflowService, type EmitEvent } from 'nestjs-workflow-engine';
import { announce, onMessage } from '../support/process-side.js';
import { burstModule } from './burst-flow.js';

/** A process that works and sends messages: all it is given at once. */
async function boot(): Promise<void> {
  const module = burstModule(process.env.DATABASE_URL!, { worker: { concurrency: 60 }, wake: { every: 1_000 } });
  const app = await NestFactory.createApplicationContext(module, { logger: ['error', 'warn'] });
  const workflows = app.get(WorkflowService);
  onMessage<{ events: EmitEvent[] }>('emit', async ({ events }) => {
    const answers = await Promise.all(events.map((event) => workflows.emit(event)));
    await announce('emitted', { duplicates: answers.filter(({ duplicate }) => duplicate).length });
  });
  onMessage<{ runId: string; n: number }>('signal', async ({ runId, n }) => {
    await announce('signalled', await workflows.signal(runId, 'next', n));
  });
  await announce('ready');
}

void boot();
