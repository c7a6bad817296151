import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Stage, Workflow, WorkflowModule, WorkflowService, type Flow, type StageContext } from 'nestjs-workflow-engine';
import { DataSource, type EntityManager } from 'typeorm';
import { z } from 'zod';

/** What the host writes, and what it says that the engine wrote with it. */
export const WRITES_TABLE = `
  CREATE TABLE writes (kind text NOT NULL, run text NOT NULL, nr int NOT NULL DEFAULT 0)`;

/** Writes beside its outcome. */
@Stage({ id: 'record' })
class Record {
  execute(ctx: StageContext): number {
    ctx.recordWith((manager: EntityManager) => write(manager, 'record', ctx.run.id));
    return 1;
  }
}

/** Never goes on by itself. */
@Stage({ id: 'listen' })
class Listen {
  async execute(ctx: StageContext): Promise<void> {
    await ctx.step.waitForSignal('never');
  }
}

const input = z.null();

@Workflow({ id: 'recording', version: 1, input })
export class Recording {
  define(flow: Flow<typeof input>) {
    return flow.pipe(Record);
  }
}

@Workflow({ id: 'listening', version: 1, input })
export class Listening {
  define(flow: Flow<typeof input>) {
    return flow.pipe(Listen);
  }
}

const write = (manager: EntityManager, kind: string, run: string, nr = 0): Promise<unknown> =>
  manager.query('INSERT INTO writes (kind, run, nr) VALUES ($1, $2, $3)', [kind, run, nr]);

/** Each one transaction of the host's that takes a call of the engine along. */
export class HostWrites {
  constructor(
    private readonly host: DataSource,
    private readonly workflows: WorkflowService,
    /** The run that signals are for. */
    private readonly listener: string,
  ) {}

  async start(): Promise<void> {
    await this.host.transaction(async (manager) => {
      const { run } = await this.workflows.start(Recording, null, { manager });
      await write(manager, 'start', run.id);
    });
  }

  async signal(nr: number): Promise<void> {
    await this.host.transaction(async (manager) => {
      await write(manager, 'signal', this.listener, nr);
      await this.workflows.asOperator().signal(this.listener, `nr ${nr}`, nr, { manager });
    });
  }
}

export function hostWritesModule(url: string) {
  @Module({
    imports: [
      TypeOrmModule.forRoot({ type: 'postgres', url, poolSize: 8 }),
      WorkflowModule.forRoot({
        worker: { concurrency: 4, pollInterval: 100 },
        wake: { every: 100 },
        lease: { heartbeatInterval: 100, staleThreshold: 1_000, maxLosses: 1_000 },
        retry: { backoff: ['50ms'] },
      }),
    ],
    providers: [Record, Recording, Listen, Listening],
  })
  class HostWritesModule {}
  return HostWritesModule;
}
