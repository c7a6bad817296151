import { WorkflowSubject } from 'nestjs-workflow-engine';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

export type ExpenseStatus = 'open' | 'approved' | 'rejected' | 'paid';

/** Each move of an expense from one status to another; written by the engine with the move. */
@Entity('expense_moves')
export class ExpenseMove {
  @PrimaryGeneratedColumn() id!: number;
  @Column('text') subjectId!: string;
  @Column('text') from!: ExpenseStatus;
  @Column('text') to!: ExpenseStatus;
  @Column('text', { nullable: true }) reason!: string | null;
  @Column('jsonb', { nullable: true }) actor!: unknown;
}

/** What runs are about. Graphs read the fields that are named here, and move the status as far as its lifecycle lets them. */
@Entity('expenses')
@WorkflowSubject({
  type: 'expense',
  fields: ['amount', 'purpose', 'status'],
  lifecycles: {
    status: { transitions: { open: ['approved', 'rejected'], approved: ['paid'] }, history: ExpenseMove },
  },
})
export class Expense {
  @PrimaryGeneratedColumn('uuid') id!: string;
  @Column('text') filedBy!: string;
  @Column('int') amount!: number;
  @Column('text') purpose!: string;
  @Column('text', { default: 'open' }) status!: ExpenseStatus;
}
