import { Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { INestApplicationContext } from '@nestjs/common';
import { WorkflowModule, WorkflowService } from 'nestjs-workflow-engine';
import { freshDatabase } from '../support/database.js';
import { registerOpen } from '../support/open-resources.js';
import { GREETING, Greeting } from './greeting.js';

async function startApp(): Promise<INestApplicationContext> {
  const database = await freshDatabase();

  @Module({
    imports: [TypeOrmModule.forRoot(database.dataSourceOptions), WorkflowModule.forRoot()],
    providers: GREETING,
  })
  class AppModule {}

  const app = await Test.createTestingModule({ imports: [AppModule] }).compile();
  await app.init();
  const closed = registerOpen({ kind: 'app', name: 'smoke', close: () => app.close() });
  const close = app.close.bind(app);
  app.close = async () => {
    await close();
    closed();
  };
  return app;
}

describe('a Nest app on PostgreSQL', () => {
  it('RUN-1: runs a workflow from start to result', async () => {
    const app = await startApp();
    const workflows = app.get(WorkflowService);
    const output = await workflows.startAndWait(Greeting, { name: 'Ada' });
    expect(output).toEqual({ length: 9, loud: 'HELLO ADA?' });
    await app.close();
  });
});
