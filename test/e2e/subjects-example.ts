import { deny, Stage, Workflow, WorkflowPolicy, WorkflowSubject } from 'nestjs-workflow-engine';
import type { Flow, StageAuthorization, StageContext, StageHandler, StagePolicy } from 'nestjs-workflow-engine';
import type { WorkflowBlueprint } from 'nestjs-workflow-engine';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { z } from 'zod';

@Entity()
@WorkflowSubject({ type: 'expense', owner: 'teamId', fields: ['amount', 'status'] })
export class Expense {
  @PrimaryGeneratedColumn('uuid') id!: string;
  @Column('text') teamId!: string;
  @Column('int') amount!: number;
  @Column('text', { default: 'open' }) status!: string;
}

const schemas = { input: z.object({}), output: z.object({ paid: z.number() }) };

@Stage({ id: 'pay-out', ability: 'expenses.pay-out', ...schemas })
export class PayOut implements StageHandler<typeof schemas> {
  async execute(ctx: StageContext<typeof schemas>) {
    const expense = await ctx.subject<Expense>();
    await ctx.step.waitFor('approved', () => expense.status === 'approved', { every: '1 h' });
    return { paid: expense.amount };
  }
}

@WorkflowPolicy('expenses.pay-out', { allowSystem: true })
export class PayOutPolicy implements StagePolicy {
  authorize({ subject }: StageAuthorization) {
    return (subject as Expense).amount <= 1_000 || deny('large expenses are paid by hand');
  }
}

@Workflow({ id: 'pay-out-expense', version: 1, input: schemas.input })
export class PayOutExpense implements WorkflowBlueprint<typeof schemas.input> {
  define(flow: Flow<typeof schemas.input>) {
    return flow.pipe(PayOut);
  }
}
