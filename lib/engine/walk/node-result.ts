import { encodeJson } from '../codec/json.js';
import { evaluateMapping, type CompiledGraphNode, DONE } from '../graph/index.js';
import type { ExpressionValues } from '../expression/index.js';
import type { JsonText } from '../state/rows.js';

/** What a node comes to that is passed without a worker. */
export type NodeResult =
  | { readonly kind: 'went'; readonly outcome: string; readonly output: JsonText }
  /** The run ends here. */
  | { readonly kind: 'ended'; readonly outcome: string; readonly output: JsonText }
  /** In a sentence, without a full stop. */
  | { readonly kind: 'failed'; readonly problem: string };

/** A parallel node whose branches begin: those that are taken. */
export type ForkResult =
  { readonly kind: 'forked'; readonly output: JsonText } | Extract<NodeResult, { kind: 'failed' }>;

/** `condition`, `branch` and `end`; loops and parallel nodes have a state, and are the walk's own. */
export function resultOf(node: CompiledGraphNode, values: ExpressionValues, maxBytes: number): NodeResult {
  switch (node.type) {
    case 'condition':
      return conditionResult(node, values);
    case 'branch':
      return branchResult(node, values);
    case 'end':
      return endResult(node, values, maxBytes);
    default:
      throw new Error(`A node of type ${node.type} is not passed without a worker.`);
  }
}

function conditionResult({ expressions }: CompiledGraphNode, values: ExpressionValues): NodeResult {
  const answer = expressions.get('if')!.evaluate(values);
  if (!answer.ok) return { kind: 'failed', problem: answer.problem };
  return { kind: 'went', outcome: String(answer.value), output: JSON.stringify(answer.value) };
}

/** The first case that holds; the others are not asked. */
function branchResult({ config, expressions }: CompiledGraphNode, values: ExpressionValues): NodeResult {
  const { cases } = config as { readonly cases: readonly { readonly outcome: string }[] };
  for (const [at, { outcome }] of cases.entries()) {
    const answer = expressions.get(`cases[${at}].if`)!.evaluate(values);
    if (!answer.ok) return { kind: 'failed', problem: `case "${outcome}": ${answer.problem}` };
    if (answer.value === true) return { kind: 'went', outcome, output: JSON.stringify(outcome) };
  }
  return { kind: 'went', outcome: 'else', output: '"else"' };
}

/** Which branches of a parallel node begin, as its output: `{ branches: […] }`. */
export function forkResult({ config, expressions }: CompiledGraphNode, values: ExpressionValues): ForkResult {
  const { branches } = config as { readonly branches: readonly { readonly outcome: string }[] };
  const taken: string[] = [];
  for (const [at, { outcome }] of branches.entries()) {
    const answer = expressions.get(`branches[${at}].when`)?.evaluate(values) ?? { ok: true, value: true };
    if (!answer.ok) return { kind: 'failed', problem: `branch "${outcome}": ${answer.problem}` };
    if (answer.value === true) taken.push(outcome);
  }
  return { kind: 'forked', output: JSON.stringify({ branches: taken }) };
}

/** A run's output is what its end says, or else which end it was. */
function endResult({ config, mappings }: CompiledGraphNode, values: ExpressionValues, maxBytes: number): NodeResult {
  const { outcome = DONE } = (config ?? {}) as { readonly outcome?: string };
  const mapping = mappings.get('output');
  if (mapping === undefined) return { kind: 'ended', outcome, output: JSON.stringify({ outcome }) };
  const answer = evaluateMapping(mapping, values);
  if (!answer.ok) return { kind: 'failed', problem: answer.problem };
  return encoded(answer.value, maxBytes, (output) => ({ kind: 'ended', outcome, output }));
}

/** LIMIT-6 holds for what expressions make, too. */
export function encoded(value: unknown, maxBytes: number, use: (text: JsonText) => NodeResult): NodeResult {
  try {
    return use(encodeJson(value, { maxBytes, limit: 'limits.maxOutputBytes' }));
  } catch (error) {
    return { kind: 'failed', problem: (error as Error).message.replace(/\.$/, '') };
  }
}
