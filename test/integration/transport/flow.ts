import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import {
  Stage,
  Workflow,
  type Flow,
  type StageContext,
  type StageHandler,
  type WorkflowBlueprint,
} from 'nestjs-workflow-engine';
import { signal } from '../../e2e/app.js';

const input = z.object({ run: z.number() });
const schemas = { input: z.any(), output: z.string() };

/** What ran, in which app, and gates that a test opens. */
@Injectable()
export class Ran {
  readonly attempts: string[] = [];
  readonly entered = signal<AbortSignal>();
  readonly opened = signal();
  readonly hook = signal();
  holds = false;
}

@Stage({ id: 'first', ...schemas, retry: { maxAttempts: 3, backoff: 0, jitter: 0 } })
class First implements StageHandler<typeof schemas> {
  constructor(private readonly ran: Ran) {}

  async execute(ctx: StageContext<typeof schemas>): Promise<string> {
    this.ran.attempts.push(`${ctx.run.id} first ${ctx.attempt}`);
    if (ctx.attempt === 1) throw new Error('The first try fails.');
    return 'first';
  }
}

@Stage({ id: 'branch', ...schemas })
class Branch implements StageHandler<typeof schemas> {
  constructor(private readonly ran: Ran) {}

  async execute(ctx: StageContext<typeof schemas>): Promise<string> {
    this.ran.attempts.push(`${ctx.run.id} ${ctx.stage.key} ${ctx.attempt}`);
    return ctx.stage.key;
  }
}

@Stage({ id: 'last', ...schemas })
class Last implements StageHandler<typeof schemas> {
  constructor(private readonly ran: Ran) {}

  async execute(ctx: StageContext<typeof schemas>): Promise<string> {
    this.ran.attempts.push(`${ctx.run.id} last ${ctx.attempt}`);
    return Object.keys(ctx.input as object)
      .sort()
      .join();
  }
}

@Workflow({ id: 'carried', version: 1, input })
export class Carried implements WorkflowBlueprint<typeof input> {
  define(flow: Flow<typeof input>) {
    return flow.pipe(First).parallel({ left: Branch, middle: Branch, right: Branch }).pipe(Last);
  }
}

@Stage({ id: 'held', ...schemas })
class Held implements StageHandler<typeof schemas> {
  constructor(private readonly ran: Ran) {}

  async execute(ctx: StageContext<typeof schemas>): Promise<string> {
    this.ran.attempts.push(`held ${ctx.attempt}`);
    if (!this.ran.holds) return 'done';
    this.ran.entered.resolve(ctx.abortSignal);
    await Promise.race([
      this.ran.opened.promise,
      new Promise((_, reject) => ctx.abortSignal.addEventListener('abort', () => reject(ctx.abortSignal.reason))),
    ]);
    return 'held';
  }

  async cancel(): Promise<void> {
    this.ran.hook.resolve();
  }
}

@Workflow({ id: 'held-flow', version: 1, input })
export class HeldFlow implements WorkflowBlueprint<typeof input> {
  define(flow: Flow<typeof input>) {
    return flow.pipe(Held);
  }
}

export const FLOWS = [Ran, First, Branch, Last, Carried, Held, HeldFlow];
