import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import {
  OnWorkflowEvent,
  Stage,
  Workflow,
  WorkflowContext,
  type Flow,
  type StageContext,
  type StageHandler,
  type WorkflowBlueprint,
  type WorkflowEvent,
} from 'nestjs-workflow-engine';

const salute = { input: z.object({ name: z.string() }), output: z.object({ text: z.string() }) };

@Stage({ id: 'salute', ...salute })
export class Salute implements StageHandler<typeof salute> {
  async execute(ctx: StageContext<typeof salute>) {
    if (ctx.input.name === 'nobody') throw new Error('There is nobody to greet.');
    return { text: `Hello ${ctx.input.name}` };
  }
}

const measure = { input: z.object({ text: z.string() }), output: z.number() };

@Stage({ id: 'measure', ...measure })
export class Measure implements StageHandler<typeof measure> {
  async execute(ctx: StageContext<typeof measure>) {
    return ctx.input.text.length;
  }
}

const shout = {
  input: z.object({ text: z.string() }),
  output: z.string(),
  config: z.object({ mark: z.string().default('!') }),
};

@Stage({ id: 'shout', ...shout })
export class Shout implements StageHandler<typeof shout> {
  constructor(private readonly context: WorkflowContext) {}

  async execute(ctx: StageContext<typeof shout>) {
    const run = this.context.currentRun();
    if (run?.id !== ctx.run.id) throw new Error(`The context says ${run?.id}.`);
    return ctx.input.text.toUpperCase() + ctx.config.mark;
  }
}

const input = z.object({ name: z.string().min(1) });

@Workflow({ id: 'greeting', version: 1, input, retry: { maxAttempts: 3, backoff: ['1h'] } })
export class Greeting implements WorkflowBlueprint<typeof input> {
  define(flow: Flow<typeof input>) {
    return flow.pipe(Salute).parallel({ length: Measure, loud: { stage: Shout, config: { mark: '?' } } });
  }
}

/** Remembers what it was told. */
@Injectable()
export class Listener {
  readonly heard: WorkflowEvent[] = [];
  readonly owners: unknown[] = [];

  constructor(private readonly context: WorkflowContext) {}

  @OnWorkflowEvent(['run:started', 'run:completed', 'run:failed', 'run:cancelled'])
  onRun(event: WorkflowEvent<'run:started' | 'run:completed' | 'run:failed' | 'run:cancelled'>): void {
    this.heard.push(event);
    this.owners.push(this.context.currentOwnerId());
  }
}

export const GREETING = [Salute, Measure, Shout, Greeting, Listener];
