import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ClsModule } from 'nestjs-cls';
import { DataSource } from 'typeorm';
import { z } from 'zod';
import {
  Stage,
  Workflow,
  WorkflowModule,
  type Flow,
  type StageContext,
  type StageHandler,
  type WorkflowBlueprint,
  type WorkflowModuleOptions,
} from '../../lib/index.js';
import { permit } from './permits.js';

/** Tables of the stages' own, in which they count themselves. */
export const CHAOS_TABLES = [
  'CREATE TABLE executions (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, stage_run_id uuid NOT NULL, pid int NOT NULL, attempt int NOT NULL)',
  'CREATE TABLE effects (idempotency_key text PRIMARY KEY, pid int NOT NULL)',
];

const schemas = { input: z.unknown(), output: z.object({ pid: z.number() }) };
type Context = StageContext<typeof schemas>;

/** Counts its execution, stands still where the test holds it, makes its side effect under its key, says which process it was. */
abstract class Counting implements StageHandler<typeof schemas> {
  constructor(protected readonly dataSource: DataSource) {}

  async execute(ctx: Context) {
    await this.dataSource.query('INSERT INTO executions (stage_run_id, pid, attempt) VALUES ($1, $2, $3)', [
      ctx.stage.runId,
      process.pid,
      ctx.attempt,
    ]);
    await permit(ctx.stage.runId);
    if (EFFECTS) {
      await this.dataSource.query('INSERT INTO effects (idempotency_key, pid) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
        ctx.idempotencyKey,
        process.pid,
      ]);
    }
    return { pid: process.pid };
  }
}

const EFFECTS = process.env.CHAOS_EFFECTS === '1';

@Stage({ id: 'a', ...schemas })
class A extends Counting {
  constructor(dataSource: DataSource) {
    super(dataSource);
  }
  override execute(ctx: Context) {
    return super.execute(ctx);
  }
}
@Stage({ id: 'b', ...schemas })
class B extends Counting {
  constructor(dataSource: DataSource) {
    super(dataSource);
  }
  override execute(ctx: Context) {
    return super.execute(ctx);
  }
}
@Stage({ id: 'c', ...schemas })
class C extends Counting {
  constructor(dataSource: DataSource) {
    super(dataSource);
  }
  override execute(ctx: Context) {
    return super.execute(ctx);
  }
}

const input = z.object({ n: z.number() });

/** Five stages, two of them side by side. */
@Workflow({ id: 'five', version: 1, input })
export class FiveStages implements WorkflowBlueprint<typeof input> {
  define(flow: Flow<typeof input>) {
    return flow
      .pipe(A, { key: 'one' })
      .parallel({ left: B, right: C })
      .pipe(A, { key: 'four' })
      .pipe(B, { key: 'five' });
  }
}

export const STAGES = 5;

export function chaosModule(url: string, options: WorkflowModuleOptions) {
  @Module({
    imports: [
      TypeOrmModule.forRoot({ type: 'postgres', url, poolSize: 20, retryAttempts: 200, retryDelay: 200 }),
      ClsModule.forRoot({ global: true }),
      WorkflowModule.forRoot({ migrations: 'run', ...options }),
    ],
    providers: [A, B, C, FiveStages],
  })
  class ChaosModule {}
  return ChaosModule;
}
