import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { WorkflowService, type RunStatus } from 'nestjs-workflow-engine';
import { DataSource } from 'typeorm';
import { Expense, ExpenseMove, type ExpenseStatus } from './expense.entity.js';

export interface ExpenseView {
  readonly id: string;
  readonly status: ExpenseStatus;
  readonly run: { readonly id: string; readonly status: RunStatus; readonly problem: string | null };
  /** `open → approved (reason)` */
  readonly moves: readonly string[];
  /** What the run did, node by node. */
  readonly history: readonly string[];
}

@Injectable()
export class Expenses {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly workflows: WorkflowService,
  ) {}

  /** Files an expense and starts its run in one transaction: neither is there without the other. */
  async file(filedBy: string, amount: number, purpose: string): Promise<{ id: string; runId: string }> {
    return this.dataSource.transaction(async (manager) => {
      const { id } = await manager.save(Expense, manager.create(Expense, { filedBy, amount, purpose }));
      const subject = { type: 'expense', id };
      const { run } = await this.workflows.start('expense-approval', { amount }, { subject, manager });
      return { id, runId: run.id };
    });
  }

  async view(id: string): Promise<ExpenseView | null> {
    const expense = await this.dataSource.manager.findOneBy(Expense, { id });
    const { runs } = await this.workflows.list({ subject: { type: 'expense', id }, definition: 'expense-approval' });
    const [run] = runs;
    if (!expense || !run) return null;
    const moves = await this.dataSource.manager.find(ExpenseMove, { where: { subjectId: id }, order: { id: 'ASC' } });
    const { stages, run: details } = await this.workflows.history(run.id);
    return {
      id,
      status: expense.status,
      run: { id: run.id, status: run.status, problem: details.failure?.message ?? null },
      moves: moves.map(({ from, to, reason }) => `${from} → ${to}${reason === null ? '' : ` (${reason})`}`),
      history: stages.map(({ key, status, outcome }) => [key, status, outcome ?? ''].join(' ').trim()),
    };
  }
}
