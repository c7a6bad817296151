import { Injectable } from '@nestjs/common';
import {
  Stage,
  Workflow,
  type Flow,
  type StageContext,
  type StageHandler,
  type WorkflowBlueprint,
} from 'nestjs-workflow-engine';
import { z } from 'zod';

/** What the world outside saw. */
@Injectable()
export class World {
  readonly did: string[] = [];
  polls = 0;
}

const schemas = { input: z.object({ name: z.string() }), output: z.object({ log: z.array(z.string()) }) };

@Stage({ id: 'onboard', ...schemas })
export class Onboard implements StageHandler<typeof schemas> {
  constructor(private readonly world: World) {}

  async execute(ctx: StageContext<typeof schemas>) {
    const { name } = ctx.input;
    const welcome = await ctx.step.run('welcome', () => {
      this.world.did.push(`welcome ${name}`);
      return { sentTo: name };
    });
    const profile = await ctx.step.waitForEvent('profile', {
      key: `profile:${name}`,
      schema: z.object({ complete: z.boolean() }),
      where: 'event.complete',
      timeout: '3 days',
      onTimeout: 'return',
    });
    if (profile.timedOut) await ctx.step.run('remind', () => void this.world.did.push(`remind ${name}`));
    const receipt = await ctx.once('charge', () => {
      this.world.did.push(`charge ${name}`);
      return 'receipt';
    });
    const by = await ctx.step.waitForSignal('sign-off', { schema: z.string() });
    const bill = await ctx.step.runWorkflow('billing', Billing, { amount: 7 });
    ctx.annotate('signed-by', by);
    return { log: [welcome.sentTo, String(profile.timedOut), receipt, by, String(bill.paid)] };
  }
}

const billing = { input: z.object({ amount: z.number() }), output: z.object({ paid: z.number() }) };

@Stage({ id: 'bill', ...billing })
export class Bill implements StageHandler<typeof billing> {
  constructor(private readonly world: World) {}

  execute(ctx: StageContext<typeof billing>) {
    return ctx.suspend({ every: '10 min', maxWait: '1 day', state: { amount: ctx.input.amount } });
  }

  checkCompletion(state: { amount: number }) {
    this.world.polls += 1;
    if (this.world.polls % 3 !== 0) return { status: 'pending' as const };
    return { status: 'ready' as const, output: { paid: state.amount } };
  }
}

@Workflow({ id: 'billing', version: 1, input: billing.input })
export class Billing implements WorkflowBlueprint<typeof billing.input> {
  define(flow: Flow<typeof billing.input>) {
    return flow.pipe(Bill);
  }
}

@Workflow({ id: 'onboarding', version: 1, input: schemas.input })
export class Onboarding implements WorkflowBlueprint<typeof schemas.input> {
  define(flow: Flow<typeof schemas.input>) {
    return flow.pipe(Onboard);
  }
}

export const WAITS = [World, Onboard, Bill, Billing, Onboarding];
