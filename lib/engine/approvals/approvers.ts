import { InvalidApproversError } from '../../errors/index.js';
import { isPlainText } from '../codec/plain-text.js';

/** Who is to decide, as resolvers give it: an id, or more of them. */
export type ApproverInput = string | { readonly id: string; readonly group?: string; readonly weight?: number };

export interface Approver {
  readonly id: string;
  readonly groups: readonly string[];
  /** Null = not said. */
  readonly weight: number | null;
}

export const MAX_APPROVERS = 200;
export const MAX_APPROVER_ID_LENGTH = 200;

/**
 * Approvers as they were given, each person once: who stands there for two groups is one person in both (fault I5), and
 * decides once for both.
 *
 * @throws InvalidApproversError for whatever is no list of approvers: nobody who was named is left out silently
 */
export function readApprovers(given: unknown, node: string): Approver[] {
  const refuse = (reason: string): never => {
    throw new InvalidApproversError({ node, reason });
  };
  if (!Array.isArray(given)) return refuse(`a list was expected, and it gave ${kindOf(given)}`);
  if (given.length > MAX_APPROVERS) return refuse(`there are ${given.length}, over ${MAX_APPROVERS}`);
  const people = new Map<string, Approver>();
  given.forEach((item: unknown, at) => {
    const one = readApprover(item);
    if (typeof one === 'string') return refuse(`number ${at + 1} ${one}`);
    const before = people.get(one.id);
    if (before && before.weight !== one.weight) return refuse(`"${one.id}" stands there with two weights`);
    people.set(one.id, before ? { ...before, groups: [...new Set([...before.groups, ...one.groups])] } : one);
  });
  return [...people.values()];
}

/** An approver, or what is wrong with it. */
function readApprover(item: unknown): Approver | string {
  if (typeof item === 'string') return isId(item) ? { id: item, groups: [], weight: null } : 'is no id';
  if (typeof item !== 'object' || item === null) return `is ${kindOf(item)}, and no approver`;
  const { id, group, weight, ...others } = item as Record<string, unknown>;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return `has "${unknown}"; an approver has id, group and weight`;
  if (!isId(id)) return 'has no id';
  if (group !== undefined && !isId(group)) return 'has a group that is no name';
  if (weight !== undefined && !isWeight(weight)) return 'has a weight that is no number from 0 on';
  return { id, groups: group === undefined ? [] : [group], weight: weight ?? null };
}

const isId = (value: unknown): value is string => isPlainText(value, MAX_APPROVER_ID_LENGTH);

const isWeight = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0;

function kindOf(value: unknown): string {
  return value === null
    ? 'null'
    : Array.isArray(value)
      ? 'a list'
      : value === undefined
        ? 'nothing'
        : `a ${typeof value}`;
}
