import type { Seat } from './round.js';

/** Who must agree. In `weights`, who is not named weighs what the approver was resolved with, else 1. */
export type ApprovalRule =
  | 'any'
  | 'all'
  | { readonly atLeast: number }
  | { readonly weight: number; readonly weights?: Readonly<Record<string, number>> | undefined }
  /** So many of each group that there is, or of each that is named. */
  | { readonly perGroup: number | Readonly<Record<string, number>> };

export const DEFAULT_RULE: ApprovalRule = 'any';

/** What a rule looks at of an approver. */
export type Voter = Pick<Seat, 'approver' | 'groups' | 'weight'>;

/** Sums of weights are exact to this: 0.7 + 0.2 + 0.1 makes 1. */
const WEIGHT_PRECISION = 1e-9;

/**
 * What is still missing for a rule to be fulfilled by those who agree, or null where nothing is. More agreement never makes more
 * missing: that is what lets a round end early.
 *
 * @param all everybody who was asked
 */
export function missingFor(rule: ApprovalRule, all: readonly Voter[], agreed: readonly Voter[]): Missing | null {
  if (rule === 'any') return people(1 - agreed.length);
  if (rule === 'all') return people(all.length - agreed.length);
  if ('atLeast' in rule) return people(rule.atLeast - agreed.length);
  if ('weight' in rule) return weight(rule.weight - weightOf(agreed));
  return perGroup(needOf(rule.perGroup, all), agreed);
}

/** What is missing, by the kind of the rule. */
export interface Missing {
  readonly people?: number;
  readonly weight?: number;
  readonly perGroup?: Readonly<Record<string, number>>;
}

export const weightOf = (voters: readonly Voter[]): number => voters.reduce((sum, { weight }) => sum + weight, 0);

/** Whether those who agree are enough. */
export const isFulfilled = (rule: ApprovalRule, all: readonly Voter[], agreed: readonly Voter[]): boolean =>
  missingFor(rule, all, agreed) === null;

/** Why a rule could not be fulfilled even if all agreed; null where it could. */
export function whyNever(rule: ApprovalRule, all: readonly Voter[]): string | null {
  const missing = missingFor(rule, all, all);
  const astray = typeof rule === 'object' && 'perGroup' in rule ? whoIsAstray(rule.perGroup, all) : undefined;
  if (astray !== undefined) return `"${astray}" is in no group that the rule counts`;
  if (missing === null) return null;
  if (typeof rule === 'object' && 'atLeast' in rule) return `${rule.atLeast} must agree, and there are ${all.length}`;
  if (typeof rule === 'object' && 'weight' in rule)
    return `a weight of ${rule.weight} must agree, and all together weigh ${round(weightOf(all))}`;
  const groups = Object.entries(missing.perGroup ?? {}).map(([group, count]) => `${count} of ${group}`);
  return groups.length > 0 ? `it lacks ${groups.join(', ')}` : `it has no approvers`;
}

function people(count: number): Missing | null {
  return count > 0 ? { people: count } : null;
}

function weight(open: number): Missing | null {
  return open > WEIGHT_PRECISION ? { weight: round(open) } : null;
}

const round = (value: number): number => Math.round(value / WEIGHT_PRECISION) * WEIGHT_PRECISION;

function perGroup(need: ReadonlyMap<string, number>, agreed: readonly Voter[]): Missing | null {
  const open = [...need].flatMap(([group, count]) => {
    const left = count - agreed.filter(({ groups }) => groups.includes(group)).length;
    return left > 0 ? [[group, left] as const] : [];
  });
  return open.length > 0 ? { perGroup: Object.fromEntries(open) } : null;
}

function needOf(need: number | Readonly<Record<string, number>>, all: readonly Voter[]): ReadonlyMap<string, number> {
  if (typeof need !== 'number') return new Map(Object.entries(need));
  return new Map(all.flatMap(({ groups }) => groups).map((group) => [group, need]));
}

/** Somebody who is asked, and whose answer could change nothing. */
function whoIsAstray(need: number | Readonly<Record<string, number>>, all: readonly Voter[]): string | undefined {
  const counted = needOf(need, all);
  return all.find(({ groups }) => !groups.some((group) => counted.has(group)))?.approver;
}
