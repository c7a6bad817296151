import 'reflect-metadata';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { WorkflowModule, WorkflowService } from 'nestjs-workflow-engine';
import { flowOf, stageOf } from '../../e2e/faults/scenes.js';
import { announce, onMessage } from '../../support/process-side.js';
import { until } from '../../support/until.js';

/** A worker that starts runs which fall asleep, and says what memory it holds when all of them do. */
const Sleep = stageOf('sleep', ({ step }) => step.sleep('nap', '30 days'));
const Sleepers = flowOf('sleepers', [Sleep]);

@Module({
  imports: [
    TypeOrmModule.forRoot({ type: 'postgres', url: process.env.DATABASE_URL! }),
    WorkflowModule.forRoot({ worker: { concurrency: 100 } }),
  ],
  providers: [Sleep, Sleepers],
})
class SleepersModule {}

void NestFactory.createApplicationContext(SleepersModule, { logger: ['error', 'warn'] }).then(async (app) => {
  const [workflows, dataSource] = [app.get(WorkflowService), app.get(DataSource)];
  let started = 0;
  onMessage<{ runs: number }>('start', async ({ runs }) => {
    for (let left = runs; left > 0; left -= 500) {
      await workflows.startMany(
        Sleepers,
        Array.from({ length: Math.min(left, 500) }, () => ({ input: null })),
      );
    }
    started += runs;
    await until(async () => (await asleep(dataSource)) >= started, 100);
    await announce('asleep', { heap: settledHeap() });
  });
  await announce('ready');
});

async function asleep(dataSource: DataSource): Promise<number> {
  const [row] = await dataSource.query<{ n: number }[]>('SELECT count(*)::int AS n FROM workflow_steps WHERE open');
  return row!.n;
}

/** Memory that the process holds when all that can go is gone. */
function settledHeap(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let round = 0; round < 3; round++) collect();
  return process.memoryUsage().heapUsed;
}
