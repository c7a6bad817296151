import { Module, type OnModuleDestroy } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import {
  WakeService,
  WorkflowModule,
  WorkflowService,
  type WakeReport,
  type WorkflowModuleOptions,
} from 'nestjs-workflow-engine';
import { announce } from '../../support/process-side.js';
import { flowOf, stageOf } from './scenes.js';

const HELD = process.env.HELD === '1';
const ASKS = process.env.ASKS_DATABASE === '1';

export interface FaultApp {
  /** Starts runs of `step`; their ids. */
  start(runs: number): Promise<string[]>;
  startAndWait(): Promise<unknown>;
  /** What a run gave, or the code of what it ended with. */
  ended(run: string): Promise<unknown>;
  /** Starts runs of `quick` and waits for their ends. */
  runToTheEnd(runs: number): Promise<void>;
  wake(times: number): Promise<WakeReport[]>;
  /** Lets the bodies of `step` end, those to come too. */
  endBodies(): void;
}

/** An app whose shutdown hooks are on, as a host's are. */
export async function createFaultApp(): Promise<FaultApp> {
  let dataSource: DataSource | undefined;
  let endBodies!: () => void;
  const mayEnd = new Promise<void>((resolve) => (endBodies = resolve));
  const Step = stageOf('step', async (ctx) => {
    await announce('entered', { run: ctx.run.id, attempt: ctx.attempt });
    if (HELD) await mayEnd;
    if (!ASKS) return { pid: process.pid };
    // The host's own connection must still be there for a body that may end.
    const [row] = (await dataSource!.query('SELECT 1 AS open')) as [{ open: number }];
    return { pid: process.pid, open: row.open };
  });
  const Quick = stageOf('quick', (ctx) => ctx.input);
  const [Steps, Quicks] = [flowOf('steps', [Step, { left: Quick, right: Quick }]), flowOf('quicks', [Quick])];
  const options = JSON.parse(process.env.WORKFLOW ?? '{}') as WorkflowModuleOptions;

  @Module({
    imports: [
      TypeOrmModule.forRoot({ type: 'postgres', url: process.env.DATABASE_URL!, retryAttempts: 100, retryDelay: 100 }),
      WorkflowModule.forRoot(options),
    ],
    providers: [Step, Quick, Steps, Quicks],
  })
  class FaultModule implements OnModuleDestroy {
    /** Nest tells the host first: the engine's own shutdown comes right after. */
    onModuleDestroy(): Promise<void> {
      return announce('shutting down');
    }
  }
  const app = await NestFactory.createApplicationContext(FaultModule, { logger: ['error', 'warn'] });
  dataSource = app.get(DataSource);
  app.enableShutdownHooks();
  const [workflows, wake] = [app.get(WorkflowService), app.get(WakeService)];
  return {
    start: async (runs) => (await workflows.startMany(Steps, inputs(runs))).map(({ run }) => run.id),
    endBodies,
    ended: (run) => workflows.result(run).catch((error: { code?: string }) => error.code),
    startAndWait: () => workflows.startAndWait(Steps, { n: 1 }),
    runToTheEnd: async (runs) => {
      const started = await workflows.startMany(Quicks, inputs(runs));
      await Promise.all(started.map(({ run }) => workflows.result(run)));
    },
    wake: async (times) => {
      const reports: WakeReport[] = [];
      for (let time = 0; time < times; time++) reports.push(await wake.wake());
      return reports;
    },
  };
}

const inputs = (runs: number): { input: unknown }[] => Array.from({ length: runs }, (_, n) => ({ input: { n } }));
