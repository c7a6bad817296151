import { SKIPPED } from '../graph/index.js';
import { isInline, isWhenAsked, isWhenInline } from '../walk/index.js';
import { lookAtApproval } from './look-at-approval.js';
import { lookAtStage } from './look-at-stage.js';
import { lookAtEmitEvent, lookAtSetField, lookAtStartWorkflow, lookAtTransition } from './look-changing.js';
import { lookAtBranch, lookAtCondition, lookAtEnd, lookAtLoop, lookAtParallel } from './look-passed.js';
import { lookAtWait } from './look-waiting.js';
import { expressionFailed, failing, type DryPlace, type Look } from './look.js';
import { onward, passedSentence } from './passed-sentence.js';

const LOOKS: Readonly<Record<string, (place: DryPlace) => Look | Promise<Look>>> = {
  condition: lookAtCondition,
  branch: lookAtBranch,
  loop: lookAtLoop,
  parallel: lookAtParallel,
  end: lookAtEnd,
  wait: lookAtWait,
  approval: lookAtApproval,
  set_field: lookAtSetField,
  transition: lookAtTransition,
  start_workflow: lookAtStartWorkflow,
  emit_event: lookAtEmitEvent,
};

/** What only decides where a run goes: neither takes time, nor changes anything. */
const DECIDING: ReadonlySet<string> = new Set(['condition', 'branch', 'loop', 'parallel', 'end']);

/** Whether what comes after a node may find the world otherwise than it is now. */
export const takesTime = ({ builtIn, type }: DryPlace['node']): boolean => !builtIn || !DECIDING.has(type);

/** Whether a run passes it by itself, waiting for nobody. */
export const isPassed = (node: DryPlace['node']): boolean => isInline(node) && isWhenInline(node);

/** What a run would do at a node: its `when` first, then what it is. */
export async function lookAtNode(place: DryPlace): Promise<Look> {
  const { node, values, given } = place;
  const { refused } = values.world;
  if (refused !== null && !isPassed(node)) return failing('Fails before it begins.', refused);
  const asked = askWhen(place);
  if ('would' in asked) return asked;
  const look = await (node.builtIn ? LOOKS[node.type]! : lookAtStage)(place);
  const stale = DECIDING.has(node.type) ? [...values.stale] : [];
  const unknown = [...asked.unknown, ...(look.unknown ?? []), ...values.stale];
  const said = given.outcomes.has(node.id);
  return { ...look, unknown, assumes: look.assumes === true || (asked.assumes && !said) || stale.length > 0 };
}

/** The node is skipped, or fails; or what of its `when` is not known. */
function askWhen(place: DryPlace): Look | { readonly unknown: readonly string[]; readonly assumes: boolean } {
  const { graph, node, visits, values, given } = place;
  if (node.when === null || !isWhenAsked(graph, node, visits)) return { unknown: [], assumes: false };
  const answer = values.evaluate(node.when);
  if (answer.kind === 'failed') return expressionFailed(place, `when: ${answer.problem}`);
  const leads = onward(place.node, node.skipOutcome ?? SKIPPED);
  const said = given.outcomes.get(node.id) === SKIPPED;
  if (answer.kind === 'value' ? answer.value !== true : said) {
    const would = passedSentence(node, SKIPPED, null);
    const of = { outcome: SKIPPED, output: 'null', outputKnown: true, skipped: true } as const;
    return { would, ...of, unknown: [...values.stale], assumes: values.stale.size > 0 };
  }
  if (answer.kind === 'value') return { unknown: [], assumes: values.stale.size > 0 };
  const otherwise = `whether ${node.when.text} holds: if not, the node is skipped, ${leads}`;
  return { unknown: [...answer.why, otherwise], assumes: true };
}
