import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { WorkflowService } from 'nestjs-workflow-engine';
import { DataSource } from 'typeorm';
import { announce, onMessage } from '../support/process-side.js';
import { HostWrites, hostWritesModule } from './host-writes-flow.js';

/** Makes so many transactions of each kind at once, four of a kind at a time, and tells of each that has ended. */
onMessage<{ url: string; listener: string; from: number; count: number }>('work', async (given) => {
  const { url, listener, from, count } = given;
  const app = await NestFactory.createApplicationContext(hostWritesModule(url), { logger: false });
  const writes = new HostWrites(app.get(DataSource), app.get(WorkflowService), listener);
  await announce('working');
  const lane = async (lane: number): Promise<void> => {
    for (let nr = lane; nr < count; nr += 4) {
      await Promise.all([writes.start(), writes.signal(from + nr)]);
      void announce('point');
    }
  };
  await Promise.all([0, 1, 2, 3].map(lane));
  await announce('written');
});

/** Works until there is nothing to do any more. */
onMessage<{ url: string }>('finish', async ({ url }) => {
  const app = await NestFactory.createApplicationContext(hostWritesModule(url), { logger: false });
  const operator = app.get(WorkflowService).asOperator();
  for (let open = 1; open > 0;) {
    const { PENDING, RUNNING } = await operator.count('recording');
    open = PENDING + RUNNING;
    if (open > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await announce('finished');
});

void announce('ready');
