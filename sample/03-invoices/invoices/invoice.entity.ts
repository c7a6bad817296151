import { WorkflowSubject } from 'nestjs-workflow-engine';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

/** What runs are about. Rows are held apart by team in the database itself (`app/tables.ts`). */
@Entity('invoices')
@WorkflowSubject({ type: 'invoice', owner: 'teamId', fields: ['amount', 'status'] })
export class Invoice {
  @PrimaryGeneratedColumn('uuid') id!: string;
  @Column('text') teamId!: string;
  @Column('text') customer!: string;
  @Column('int') amount!: number;
  @Column('text', { default: 'new' }) status!: 'new' | 'sent';
}

/** A line of the books: one for each invoice that went out. */
@Entity('bookings')
export class Booking {
  @PrimaryGeneratedColumn('uuid') id!: string;
  @Column('text') teamId!: string;
  @Column('uuid') invoiceId!: string;
  @Column('int') amount!: number;
}
