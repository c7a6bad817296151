import { decodeJson } from '../codec/json.js';
import { DONE, SKIPPED, type CompiledGraphNode } from '../graph/index.js';
import type { JsonText } from '../state/rows.js';
import { TURN } from '../walk/index.js';
import { named, shown } from './shown.js';

/** What came of a node that only decides where the run goes. `outcome` null: the branches of a parallel node begin. */
export function passedSentence(node: CompiledGraphNode, outcome: string | null, output: JsonText | null): string {
  const value = decodeJson(output ?? 'null', `The output of ${node.id}`);
  if (outcome === SKIPPED)
    return `Is skipped, since ${node.when?.text} does not hold, ${onward(node, node.skipOutcome ?? SKIPPED)}.`;
  switch (node.type) {
    case 'condition': {
      const holds = outcome === 'true' ? 'it holds' : 'it does not hold';
      return `Asks whether ${node.expressions.get('if')!.text}: ${holds}, ${onward(node, outcome!)}.`;
    }
    case 'branch': {
      const which = outcome === 'else' ? 'none does' : `"${outcome}" does`;
      return `Asks which case holds: ${which}, ${onward(node, outcome!)}.`;
    }
    case 'loop':
      return loopSentence(node, outcome!, value as TurnOutput);
    case 'parallel': {
      const { branches } = value as { readonly branches: readonly string[] };
      return outcome === null ? forkSentence(node, branches) : joinSentence(node, branches);
    }
    default:
      return `Ends the run with "${outcome}", its output being ${shown(value)}.`;
  }
}

interface TurnOutput {
  readonly index: number;
  readonly count?: number;
  readonly item?: unknown;
}

function loopSentence(node: CompiledGraphNode, outcome: string, { index, count, item }: TurnOutput): string {
  if (outcome !== TURN) return `Has turned ${count === 1 ? 'once' : `${count} times`}, ${onward(node, DONE)}.`;
  const { while: holds } = node.config as { readonly while?: string };
  const of = holds === undefined ? ` of ${count}` : ` (${holds} holds)`;
  return `Turns: number ${index + 1}${of}${item === undefined ? '' : `, for ${shown(item)}`}, ${onward(node, TURN)}.`;
}

function forkSentence(node: CompiledGraphNode, branches: readonly string[]): string {
  const { join } = node.config as { readonly join: 'all' | 'any' | 'taken' };
  if (branches.length === 0) return 'Begins no branch.';
  const which = `${branches.length === 1 ? 'the branch' : 'the branches'} ${named(branches)}`;
  return `Begins ${which}, and waits for ${join === 'any' ? 'the first that comes back' : 'all of them'}.`;
}

function joinSentence(node: CompiledGraphNode, branches: readonly string[]): string {
  const back = branches.length === 0 ? 'Has no branch to wait for' : `Is back from ${named(branches)}`;
  return `${back}, ${onward(node, DONE)}.`;
}

/** Where the run goes on by an outcome, as the end of a sentence. */
export function onward(node: CompiledGraphNode, outcome: string): string {
  const to = node.edges.get(outcome);
  if (to === undefined) return `and the run fails, since nothing follows "${outcome}"`;
  return node.body?.block === to ? `and comes back to ${to}` : `and goes on to ${to}`;
}
