import { type Flow, Workflow, type WorkflowBlueprint } from 'nestjs-workflow-engine';
import { customerSchema } from './customers/customer.js';
import { CompleteProfile } from './stages/complete-profile.stage.js';
import { Finish } from './stages/finish.stage.js';
import { SignOff } from './stages/sign-off.stage.js';
import { StartBilling } from './stages/start-billing.stage.js';
import { Welcome } from './stages/welcome.stage.js';

/** One run takes one customer on: greet, wait for the profile, have a person decide, bill, tell. */
@Workflow({ id: 'onboarding', version: 1, input: customerSchema })
export class Onboarding implements WorkflowBlueprint<typeof customerSchema> {
  define(flow: Flow<typeof customerSchema>) {
    return flow
      .pipe(Welcome)
      .pipe(CompleteProfile)
      .pipe(SignOff)
      .pipe(StartBilling, { when: ({ input }) => input.approved })
      .pipe(Finish);
  }
}
