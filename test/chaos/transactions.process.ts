import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { WorkflowService } from 'nestjs-workflow-engine';
import { announce, onMessage } from '../support/process-side.js';
import { allowPoints, BookingFlow, bookingModule } from './transaction-flow.js';

/** Starts so many runs, works at whatever there is up to its last point, and tells when all that there are have ended. */
onMessage<{ url: string; runs: number; points?: number }>('work', async ({ url, runs, points }) => {
  allowPoints(points ?? Infinity);
  const app = await NestFactory.createApplicationContext(bookingModule(url), { logger: false });
  const workflows = app.get(WorkflowService);
  for (let nr = 0; nr < runs; nr++) await workflows.start(BookingFlow, null);
  await announce('working');
  const operator = workflows.asOperator();
  for (const run of (await operator.list({ limit: 100 })).runs) await operator.result(run.id);
  await announce('ended');
  await app.close();
});

void announce('ready');
