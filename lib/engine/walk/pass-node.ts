import type { ExpressionValues } from '../expression/index.js';
import type { CompiledGraph, CompiledGraphNode } from '../graph/index.js';
import type { GraphVisits } from './graph-visits.js';
import { isEntered, TooManyTurns, turnLoop, type TurnLimits } from './loop-turn.js';
import { forkResult, resultOf, type ForkResult, type NodeResult } from './node-result.js';

export type PassResult =
  NodeResult | ForkResult | { readonly kind: 'too-many-turns'; readonly turns: number; readonly most: number };

/** What a node comes to that a run could not pass by itself, as a worker finds it with more at hand. */
export function passNode(
  graph: CompiledGraph,
  node: CompiledGraphNode,
  visits: GraphVisits,
  values: ExpressionValues,
  limits: TurnLimits,
): PassResult {
  if (node.type === 'parallel') return forkResult(node, values);
  if (node.type !== 'loop') return resultOf(node, values, limits.maxOutputBytes);
  const result = turnLoop(node, visits, isEntered(graph, node, visits), values, limits);
  if (!(result instanceof TooManyTurns)) return result;
  return { kind: 'too-many-turns', turns: result.turns, most: result.most };
}
