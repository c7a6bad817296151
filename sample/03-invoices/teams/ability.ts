import { AbilityBuilder, createMongoAbility, type ExtractSubjectType, type MongoAbility } from '@casl/ability';
import { Invoice } from '../invoices/invoice.entity.js';
import type { Member } from './member.entity.js';
import type { Team } from './team.entity.js';

type Subjects = typeof Invoice | Invoice | 'Run' | 'all';
export type TeamAbility = MongoAbility<[string, Subjects]>;

export const CLERK_LIMIT = 1_000;

/** Who may do what, in one place, for requests and for runs alike. Of two rules that fit the later one counts. */
export function abilityOf({ role }: Member, { name, suspended }: Team): TeamAbility {
  const { can, cannot, build } = new AbilityBuilder<TeamAbility>(createMongoAbility);
  if (role === 'lead') can('manage', 'all');
  else {
    can(['check', 'send', 'book'], Invoice);
    cannot('send', Invoice, { amount: { $gt: CLERK_LIMIT } }).because(
      `a clerk sends invoices of up to ${CLERK_LIMIT.toLocaleString('en')}`,
    );
    cannot('manage', 'Run').because('runs are looked after by the lead of the team');
  }
  if (suspended) cannot('manage', 'all').because(`${name} is suspended`);
  return build({ detectSubjectType: (about) => about.constructor as ExtractSubjectType<Subjects> });
}
