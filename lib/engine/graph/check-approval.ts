import type { z } from 'zod';
import { InvalidApproversError } from '../../errors/index.js';
import { DEFAULT_RULE, readApprovers, seatsAt, whyNever, type ApprovalRule } from '../approvals/index.js';
import type { approvalConfigs } from './config-schemas.js';
import type { ConfigCheck } from './config-check.js';
import type { GraphPath } from './graph-problem.js';

type ApprovalConfig = z.output<(typeof approvalConfigs)[keyof typeof approvalConfigs]>;

/** Complains about rules that ask for more than the approvers can give, where those are known by the graph alone. */
export function checkApproval(config: ApprovalConfig, check: ConfigCheck): void {
  if ('approvers' in config) checkStage(config.approvers, config.rule, [], check);
  else config.stages.forEach(({ approvers, rule }, at) => checkStage(approvers, rule, ['stages', at], check));
}

function checkStage(
  given: string | readonly unknown[],
  rule: ApprovalRule = DEFAULT_RULE,
  path: GraphPath,
  { node, problem, misfit, idsIn }: ConfigCheck,
): void {
  const known = typeof given === 'string' ? idsIn(given) : given;
  if (known === null) return;
  try {
    const seats = seatsAt(0, { approvers: readApprovers(known, node), rule });
    const reason = seats.length === 0 ? 'it has no approvers' : whyNever(rule, seats);
    const field = seats.length === 0 ? 'approvers' : 'rule';
    if (reason !== null) problem('APPROVAL_CANNOT_PASS', [...path, field], { node, reason });
  } catch (error) {
    if (!(error instanceof InvalidApproversError)) throw error;
    misfit(`The approvers are not valid: ${error.params.reason}`, [...path, 'approvers']);
  }
}
