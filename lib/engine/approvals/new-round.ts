import { ApprovalCannotPassError, NoApproversError } from '../../errors/index.js';
import { whyNever, type ApprovalRule } from './approval-rule.js';
import type { Approver } from './approvers.js';
import type { RoundTerms, Seat } from './round.js';

/** A stage of approval with whom its approvers were resolved to. */
export interface ResolvedStage {
  readonly name: string | null;
  readonly rule: ApprovalRule;
  readonly approvers: readonly Approver[];
}

export interface RoundRequest {
  readonly node: string;
  readonly stages: readonly ResolvedStage[];
  readonly terms: Omit<RoundTerms, 'stages'>;
  readonly requester: string | null;
}

/** Terms and seats of a round that can pass. */
export interface PreparedRound {
  readonly node: string;
  readonly terms: RoundTerms;
  readonly requester: string | null;
  readonly seats: readonly Seat[];
}

/**
 * A round before it is opened. Who asked for it is no approver of his own request, unless the terms allow it.
 *
 * @throws NoApproversError, ApprovalCannotPassError: a round that could never end by itself is not begun (faults I3, K45)
 */
export function prepareRound({ node, stages, terms, requester }: RoundRequest): PreparedRound {
  const excluded = terms.ownRequest ? null : requester;
  const seats = stages.flatMap((stage, at) => {
    const taken = seatsAt(at, stage).filter(({ approver }) => approver !== excluded);
    const name = stages.length > 1 ? (stage.name ?? `${at + 1}`) : undefined;
    if (taken.length === 0) throw new NoApproversError({ node, stage: name, requester: onlyOne(stage, excluded) });
    const reason = whyNever(stage.rule, taken);
    if (reason !== null) throw new ApprovalCannotPassError({ node, reason: withPlace(reason, name) });
    return taken;
  });
  return { node, requester, seats, terms: { ...terms, stages: stages.map(({ name, rule }) => ({ name, rule })) } };
}

/** Somebody who asks is told why nobody is left. */
const onlyOne = ({ approvers }: ResolvedStage, excluded: string | null): string | undefined =>
  excluded !== null && approvers.length > 0 ? excluded : undefined;

const withPlace = (reason: string, stage: string | undefined): string =>
  stage === undefined ? reason : `in stage ${stage}, ${reason}`;

/** Everybody who was resolved, each with what he weighs. */
export function seatsAt(stage: number, { approvers, rule }: Omit<ResolvedStage, 'name'>): Seat[] {
  return approvers.map(({ id, groups, weight }) => ({
    stage,
    approver: id,
    groups,
    weight: weightIn(rule, id) ?? weight ?? 1,
    holder: id,
    path: [],
  }));
}

function weightIn(rule: ApprovalRule, id: string): number | undefined {
  if (typeof rule !== 'object' || !('weight' in rule)) return undefined;
  return rule.weights && Object.hasOwn(rule.weights, id) ? rule.weights[id] : undefined;
}
