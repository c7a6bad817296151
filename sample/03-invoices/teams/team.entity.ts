import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A tenant: whose invoices and whose runs they are. */
@Entity('teams')
export class Team {
  @PrimaryColumn('text') id!: string;
  @Column('text') name!: string;
  @Column('boolean', { default: false }) suspended!: boolean;
}
