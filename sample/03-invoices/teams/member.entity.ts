import { Column, Entity, PrimaryColumn } from 'typeorm';

export type Role = 'clerk' | 'lead';

/** Somebody who works for a team. */
@Entity('members')
export class Member {
  @PrimaryColumn('text') id!: string;
  @Column('text') teamId!: string;
  @Column('text') name!: string;
  @Column('text') role!: Role;
}

/** What runs keep of whoever started them. The role is not in it: it may be another by the time that a stage is to run. */
export interface Actor {
  readonly id: string;
  readonly name: string;
}
