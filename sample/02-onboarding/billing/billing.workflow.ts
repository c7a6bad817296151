import { type Flow, Workflow, type WorkflowBlueprint } from 'nestjs-workflow-engine';
import { FirstPayment } from './first-payment.stage.js';
import { OpenAccount } from './open-account.stage.js';
import { billingInputSchema } from './subscription.js';

/** One run bills one customer. Started by onboardings, as their child. */
@Workflow({ id: 'billing', version: 1, input: billingInputSchema })
export class Billing implements WorkflowBlueprint<typeof billingInputSchema> {
  define(flow: Flow<typeof billingInputSchema>) {
    return flow.pipe(OpenAccount).pipe(FirstPayment);
  }
}
