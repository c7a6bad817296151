import type { z } from 'zod';
import type { approvalConfigs, ApprovalRule } from './config-schemas.js';
import type { ConfigCheck } from './config-check.js';
import type { GraphPath } from './graph-problem.js';

type ApprovalConfig = z.output<(typeof approvalConfigs)[keyof typeof approvalConfigs]>;

/** Complains about rules that ask for more than the approvers can give, where those are known by the graph alone. */
export function checkApproval(config: ApprovalConfig, check: ConfigCheck): void {
  if ('approvers' in config) checkStage(config.approvers, config.rule, [], check);
  else config.stages.forEach(({ approvers, rule }, at) => checkStage(approvers, rule, ['stages', at], check));
}

function checkStage(
  approvers: string | readonly string[],
  rule: ApprovalRule | undefined,
  path: GraphPath,
  { node, problem, idsIn }: ConfigCheck,
): void {
  const known = typeof approvers === 'string' ? idsIn(approvers) : approvers;
  if (known === null) return;
  const ids = [...new Set(known)];
  const refuse = (field: string, reason: string): void =>
    problem('APPROVAL_CANNOT_PASS', [...path, field], { node, reason });
  if (ids.length === 0) return refuse('approvers', 'it has no approvers');
  if (typeof rule !== 'object') return;
  if ('atLeast' in rule) {
    if (rule.atLeast > ids.length) refuse('rule', `${rule.atLeast} must agree, and there are ${ids.length}`);
    return;
  }
  const { weight, weights } = rule;
  const total = ids.reduce((sum, id) => sum + (Object.hasOwn(weights, id) ? weights[id]! : 1), 0);
  if (total < weight) refuse('rule', `a weight of ${weight} must agree, and all together weigh ${total}`);
}
