import { Module, type Type } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Stage, Workflow, WorkflowModule, type Flow, type StageContext } from 'nestjs-workflow-engine';
import { z } from 'zod';

const schemas = { input: z.looseObject({}), output: z.null() };

@Stage({ id: 'tick', ...schemas })
class Tick {
  async execute(_ctx: StageContext<typeof schemas>) {
    return null;
  }
}

@Workflow({ id: 'ticking', version: 1, input: schemas.input })
class Ticking {
  define(flow: Flow<typeof schemas.input>) {
    return flow.pipe(Tick);
  }
}

/** An app that wakes when it is told to, and executes nothing. */
export function scheduleModule(url: string): Type {
  @Module({
    imports: [
      TypeOrmModule.forRoot({ type: 'postgres', url, retryAttempts: 0 }),
      WorkflowModule.forRoot({ worker: false, wake: { every: false } }),
    ],
    providers: [Tick, Ticking],
  })
  class ScheduleModule {}
  return ScheduleModule;
}
