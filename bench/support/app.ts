import 'reflect-metadata';
import { Module, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ClsModule } from 'nestjs-cls';
import { z } from 'zod';
import {
  Stage,
  Workflow,
  WorkflowModule,
  WorkflowService,
  type Flow,
  type StageContext,
  type StageHandler,
  type WorkflowBlueprint,
  type WorkflowModuleOptions,
} from '../../lib/index.js';

const schemas = { input: z.object({ n: z.number() }), output: z.object({ n: z.number() }) };

@Stage({ id: 'first', ...schemas })
class First implements StageHandler<typeof schemas> {
  execute(ctx: StageContext<typeof schemas>) {
    return { n: ctx.input.n + 1 };
  }
}
@Stage({ id: 'second', ...schemas })
class Second implements StageHandler<typeof schemas> {
  execute(ctx: StageContext<typeof schemas>) {
    return { n: ctx.input.n + 1 };
  }
}
@Stage({ id: 'third', ...schemas })
class Third implements StageHandler<typeof schemas> {
  execute(ctx: StageContext<typeof schemas>) {
    return { n: ctx.input.n + 1 };
  }
}

@Workflow({ id: 'three', version: 1, input: schemas.input })
export class ThreeStages implements WorkflowBlueprint<typeof schemas.input> {
  define(flow: Flow<typeof schemas.input>) {
    return flow.pipe(First).pipe(Second).pipe(Third);
  }
}

@Workflow({ id: 'one', version: 1, input: schemas.input })
export class OneStage implements WorkflowBlueprint<typeof schemas.input> {
  define(flow: Flow<typeof schemas.input>) {
    return flow.pipe(First);
  }
}

const BRANCHES = ['b0', 'b1', 'b2', 'b3', 'b4', 'b5', 'b6', 'b7', 'b8', 'b9'] as const;
const joined = { input: z.record(z.string(), z.object({ n: z.number() })), output: z.object({ sum: z.number() }) };

@Stage({ id: 'join', ...joined })
class Join implements StageHandler<typeof joined> {
  execute(ctx: StageContext<typeof joined>) {
    return { sum: Object.values(ctx.input).reduce((sum, { n }) => sum + n, 0) };
  }
}

@Workflow({ id: 'ten-and-join', version: 1, input: schemas.input })
export class TenAndJoin implements WorkflowBlueprint<typeof schemas.input> {
  define(flow: Flow<typeof schemas.input>) {
    const branches = Object.fromEntries(BRANCHES.map((key) => [key, First])) as Record<
      (typeof BRANCHES)[number],
      typeof First
    >;
    return flow.parallel(branches).pipe(Join);
  }
}

export const STEPS = 20;

@Stage({ id: 'stepper', ...schemas })
class Stepper implements StageHandler<typeof schemas> {
  async execute(ctx: StageContext<typeof schemas>) {
    let { n } = ctx.input;
    for (let at = 1; at <= STEPS; at += 1) n = (await ctx.step.run(`s${at}`, () => ({ n: n + 1 }))).n;
    return { n };
  }
}

@Workflow({ id: 'steps', version: 1, input: schemas.input })
export class TwentySteps implements WorkflowBlueprint<typeof schemas.input> {
  define(flow: Flow<typeof schemas.input>) {
    return flow.pipe(Stepper);
  }
}

@Stage({ id: 'sleeper', ...schemas })
class Sleeper implements StageHandler<typeof schemas> {
  async execute(ctx: StageContext<typeof schemas>) {
    await ctx.step.sleep('month', '30 days');
    return ctx.input;
  }
}

@Workflow({ id: 'sleeps', version: 1, input: schemas.input })
export class Sleeps implements WorkflowBlueprint<typeof schemas.input> {
  define(flow: Flow<typeof schemas.input>) {
    return flow.pipe(Sleeper);
  }
}

/** A Nest app as a host has it: TypeORM, CLS and the engine. */
export async function bootApp(
  url: string,
  options: WorkflowModuleOptions,
): Promise<{ app: INestApplicationContext; workflows: WorkflowService }> {
  @Module({
    imports: [
      TypeOrmModule.forRoot({ type: 'postgres', url, logging: false }),
      ClsModule.forRoot({ global: true }),
      WorkflowModule.forRoot({ migrations: 'run', ...options }),
    ],
    providers: [
      ...[First, Second, Third, Join, Stepper, Sleeper],
      ...[ThreeStages, OneStage, TenAndJoin, TwentySteps, Sleeps],
    ],
  })
  class BenchModule {}
  const app = await NestFactory.createApplicationContext(BenchModule, {
    logger: ['error', 'warn'],
    abortOnError: false,
  });
  return { app, workflows: app.get(WorkflowService) };
}
