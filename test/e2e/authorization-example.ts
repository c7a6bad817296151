import { Injectable } from '@nestjs/common';
import { deny, PolicyStageAuthorizer, Stage, Workflow, WorkflowPolicy } from 'nestjs-workflow-engine';
import type {
  AuthorizationRequest,
  Flow,
  StageAuthorization,
  StageAuthorizer,
  StageContext,
  StageHandler,
  StagePolicy,
  WorkflowBlueprint,
} from 'nestjs-workflow-engine';
import { z } from 'zod';

export interface User {
  readonly id: string;
}

@Injectable()
export class Roles {
  readonly mayPay = new Map([['ada', 1_000]]);

  async limitOf(user: User) {
    return this.mayPay.get(user.id) ?? 0;
  }
}

const expense = { input: z.object({ amount: z.number() }), output: z.object({ paid: z.number() }) };

@Stage({ id: 'pay-expense', ability: 'expenses.pay', ...expense })
export class PayExpense implements StageHandler<typeof expense> {
  async execute(ctx: StageContext<typeof expense>) {
    return { paid: ctx.input.amount };
  }
}

@WorkflowPolicy('expenses.pay')
export class PayPolicy implements StagePolicy {
  constructor(private readonly roles: Roles) {}

  async authorize({ actor, run }: StageAuthorization) {
    const { amount } = run.input as { amount: number };
    const limit = await this.roles.limitOf(actor as User);
    return amount <= limit || deny(`at most ${limit} may be paid`);
  }
}

@Workflow({ id: 'expense', version: 1, input: expense.input, actor: 'on_behalf_of' })
export class Expense implements WorkflowBlueprint<typeof expense.input> {
  define(flow: Flow<typeof expense.input>) {
    return flow.pipe(PayExpense);
  }
}

@Injectable()
export class Plans {
  readonly suspended = new Set<unknown>();
}

@Injectable()
export class TeamAuthorizer implements StageAuthorizer {
  constructor(
    private readonly policies: PolicyStageAuthorizer,
    private readonly plans: Plans,
  ) {}

  async authorize(request: AuthorizationRequest) {
    if (this.plans.suspended.has(request.owner)) return deny('this team is suspended');
    return this.policies.authorize(request);
  }
}
