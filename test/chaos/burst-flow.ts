import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import {
  Stage,
  Workflow,
  WorkflowModule,
  type Flow,
  type StageContext,
  type WorkflowModuleOptions,
} from 'nestjs-workflow-engine';
import { z } from 'zod';
import { announce } from '../support/process-side.js';

/** Each time that a run goes on is a row. */
export const WENT_ON = 'CREATE TABLE went_on (run_id uuid NOT NULL, n int NOT NULL)';

const input = z.object({ n: z.number() });
const schemas = { input };

/** Waits for the event of its own key, then does something once. */
@Stage({ id: 'for-event', ...schemas })
class ForEvent {
  constructor(private readonly dataSource: DataSource) {}

  async execute(ctx: StageContext<typeof schemas>): Promise<unknown> {
    const { n } = ctx.input;
    const payload = await ctx.step.waitForEvent('event', { key: `order:${n}` });
    await ctx.step.run('go on', () =>
      this.dataSource.query('INSERT INTO went_on (run_id, n) VALUES ($1, $2)', [ctx.run.id, n]).then(() => null),
    );
    return payload;
  }
}

/** When a signal is sent, by its number: the moments between a body and its sleep. */
export const MOMENTS = { bodyWaits: 1, beforeSleep: 2, asleep: 3 } as const;
export const SIGNALS = Object.keys(MOMENTS).length;

/** Waits for all signals, one after another, and tells the test when it is about to wait for the first. */
@Stage({ id: 'for-signals', ...schemas })
class ForSignals {
  async execute({ input: { n }, run, step }: StageContext<typeof schemas>): Promise<unknown[]> {
    const got: unknown[] = [];
    for (let times = 1; times <= n; times++) {
      if (times === MOMENTS.bodyWaits) void announce('moment', { runId: run.id, n: times });
      got.push(await step.waitForSignal('next'));
    }
    return got;
  }
}

@Workflow({ id: 'event-flow', version: 1, input })
export class EventFlow {
  define(flow: Flow<typeof input>) {
    return flow.pipe(ForEvent);
  }
}

@Workflow({ id: 'signal-flow', version: 1, input })
export class SignalFlow {
  define(flow: Flow<typeof input>) {
    return flow.pipe(ForSignals);
  }
}

export function burstModule(url: string, options: WorkflowModuleOptions) {
  @Module({
    imports: [TypeOrmModule.forRoot({ type: 'postgres', url, poolSize: 10 }), WorkflowModule.forRoot(options)],
    providers: [ForEvent, ForSignals, EventFlow, SignalFlow],
  })
  class BurstModule {}
  return BurstModule;
}
