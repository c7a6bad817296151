import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { WorkflowModule, WorkflowService, type WorkflowModuleOptions } from 'nestjs-workflow-engine';
import { announce, onMessage } from '../../support/process-side.js';
import { flowOf, stageOf } from './scenes.js';

/**
 * A worker that holds all children of its own until it is told `open`, and lets them end at the same time.
 *
 * Environment: DATABASE_URL, WORKFLOW (module options as JSON).
 */
let open: () => void;
let opened: Promise<void>;
const close = (): Promise<void> => (opened = new Promise((resolve) => (open = resolve)));
void close();
onMessage('open', () => {
  open();
  void close();
});

const Child = stageOf('child', async (ctx) => {
  const mine = opened;
  await announce('entered');
  await mine;
  return (ctx.input as number) * 2;
});
const ChildFlow = flowOf('child-flow', [Child]);
const Parent = stageOf('parent', ({ step, input }) =>
  Promise.all((input as Children).children.map((n) => step.runWorkflow(`child ${n}`, 'child-flow', n))),
);
const ParentFlow = flowOf('parent-flow', [Parent]);

interface Children {
  readonly children: readonly number[];
}

@Module({
  imports: [
    TypeOrmModule.forRoot({ type: 'postgres', url: process.env.DATABASE_URL! }),
    WorkflowModule.forRoot(JSON.parse(process.env.WORKFLOW ?? '{}') as WorkflowModuleOptions),
  ],
  providers: [Child, ChildFlow, Parent, ParentFlow],
})
class StepsModule {}

void NestFactory.createApplicationContext(StepsModule, { logger: ['error', 'warn'] }).then(async (app) => {
  const workflows = app.get(WorkflowService);
  onMessage<Children>('start', async ({ children }) => {
    const result = await workflows.startAndWait('parent-flow', { children });
    await announce('ended', { result });
  });
  await announce('ready');
});
