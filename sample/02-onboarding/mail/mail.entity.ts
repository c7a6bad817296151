import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

/** A mail in the outbox: one row a mail, however often it was handed over. */
@Entity('mails')
export class MailEntity {
  @PrimaryGeneratedColumn()
  readonly id!: number;

  /** The key of the step that sent it. */
  @Column({ type: 'text', unique: true })
  readonly key!: string;

  @Column({ type: 'text' })
  readonly recipient!: string;

  @Column({ type: 'text' })
  readonly subject!: string;

  @Column({ type: 'text' })
  readonly text!: string;

  @Column({ type: 'int', default: 0 })
  readonly handedOver!: number;
}
