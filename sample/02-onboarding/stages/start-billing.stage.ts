import { Stage, type StageContext, StageFailedError, type StageHandler, WorkflowError } from 'nestjs-workflow-engine';
import { Billing } from '../billing/billing.workflow.js';
import { subscriptionSchema } from '../billing/subscription.js';
import { CompleteProfile } from './complete-profile.stage.js';
import { Welcome } from './welcome.stage.js';

const schemas = { output: subscriptionSchema };

/** Lets a workflow of its own see to the money, and waits for it. */
@Stage({ id: 'billing', ...schemas })
export class StartBilling implements StageHandler<typeof schemas> {
  async execute(ctx: StageContext<typeof schemas>) {
    const { name, email, plan } = ctx.require(Welcome).customer;
    const { card } = ctx.require(CompleteProfile).profile;
    try {
      const subscription = await ctx.step.runWorkflow('billing', Billing, { name, email, plan, card });
      ctx.annotate('billing.account', subscription.accountId, { scope: 'run' });
      return subscription;
    } catch (error) {
      if (!WorkflowError.is(error) || error.code !== 'CHILD_RUN_FAILED') throw error;
      throw new StageFailedError('BILLING_FAILED', `${name} could not be billed`, { cause: error });
    }
  }
}
