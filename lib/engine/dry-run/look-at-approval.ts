import { DEFAULT_RULE, prepareRound, type ApprovalRule, type ResolvedStage } from '../approvals/index.js';
import { WorkflowError } from '../../errors/index.js';
import { formatDuration, parseDurationMs, type Duration } from '../time/index.js';
import { expressionFailed, failing, outputOf, wayOf, type DryPlace, type Look } from './look.js';
import { onward } from './passed-sentence.js';
import { peopleOf } from './people.js';
import { named } from './shown.js';

interface AskedStage {
  readonly name?: string;
  readonly approvers: string | readonly unknown[];
  readonly rule?: ApprovalRule;
}

type ApprovalConfig = (AskedStage | { readonly stages: readonly AskedStage[] }) & {
  readonly expires?: Duration;
  readonly comment?: 'optional' | 'required';
  readonly ownRequest?: boolean;
  readonly delegation?: boolean;
};

/** `approval`: says who would be asked, and asks nobody. */
export async function lookAtApproval(place: DryPlace): Promise<Look> {
  const { node, values, host } = place;
  const config = node.config as ApprovalConfig;
  const asked = 'stages' in config ? config.stages : [config];
  const resolved: ResolvedStage[] = [];
  const texts: string[] = [];
  const unknown: string[] = [];
  for (const [at, stage] of asked.entries()) {
    const { name = null, approvers, rule = DEFAULT_RULE } = stage;
    const site = 'stages' in config ? `stages[${at}].approvers` : 'approvers';
    const given = typeof approvers === 'string' ? node.expressions.get(site)! : approvers;
    const people = await peopleOf(given, node.id, values, host);
    if (people.kind === 'problem') return expressionFailed(place, people.problem);
    if (people.kind === 'failed') return failing('Fails: its approvers are not valid.', people.failure);
    if (people.kind === 'unknown') {
      unknown.push(...people.why);
      texts.push(`those of ${String(approvers)}, of whom ${ruleText(rule)}`);
    } else {
      resolved.push({ name, rule, approvers: people.people });
      texts.push(`${named(people.people.map(({ id }) => id)) || 'nobody'}, of whom ${ruleText(rule)}`);
    }
  }
  const { comment = 'optional', ownRequest = false, delegation = true, expires } = config;
  const { requester } = values.world;
  try {
    prepareRound({ node: node.id, stages: resolved, terms: { comment, ownRequest, delegation }, requester });
  } catch (error) {
    if (!WorkflowError.is(error)) throw error;
    return failing(`Fails: it asks ${texts.join(', then ')}.`, { code: error.code, message: error.message });
  }
  const possible = ['approved', 'rejected', 'expired'].filter((one) => node.edges.has(one));
  const way = wayOf(place, 'approved', possible);
  const limit = expires === undefined ? '' : `, within ${formatDuration(parseDurationMs(expires, 'expires'))}`;
  return {
    would: `Asks ${texts.join(', then ')}${limit}, ${onward(place.node, way.outcome)}.`,
    outcome: way.outcome,
    ...outputOf(place),
    unknown: [...way.unknown, ...unknown],
    assumes: way.assumes,
  };
}

function ruleText(rule: ApprovalRule): string {
  if (rule === 'any') return 'one must agree';
  if (rule === 'all') return 'all must agree';
  if ('atLeast' in rule) return `${rule.atLeast} must agree`;
  if ('weight' in rule) return `a weight of ${rule.weight} must agree`;
  if (typeof rule.perGroup === 'number') return `${rule.perGroup} of each group must agree`;
  return `${named(Object.entries(rule.perGroup).map(([group, count]) => `${count} of ${group}`))} must agree`;
}
