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
  for (;;) {
    const { runs } = await operator.list({ definition: 'recording', status: ['PENDING', 'RUNNING'] });
    if (runs.length === 0) break;
    // Who waits is told of each end, well or not.
    await Promise.allSettled(runs.map(({ id }) => operator.result(id)));
  }
  await announce('finished');
});

void announce('ready');
