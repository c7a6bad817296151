import { decodeJson } from '../codec/json.js';
import type { ExpressionValues } from '../expression/index.js';
import { DONE, type CompiledGraph, type CompiledGraphNode } from '../graph/index.js';
import { encoded, type NodeResult } from './node-result.js';
import { nodeOf, type GraphVisits, type Visit } from './graph-visits.js';

/** What a turn of a loop is given, as the output of its node: `output("lines").item`. */
interface Turn {
  /** From 0. */
  readonly index: number;
  /** Of a loop over a list. */
  readonly item?: unknown;
  /** Turns there will be; of a `while` nobody knows. */
  readonly count?: number;
  /** The whole list, kept with the first turn: what it is made of may change while the loop turns. */
  readonly items?: readonly unknown[];
}

interface LoopConfig {
  readonly count?: number | string;
  readonly forEach?: string;
  readonly while?: string;
  readonly max?: number;
}

/** A loop must end: more turns than this are a failure (LIMIT-4). */
export class TooManyTurns {
  constructor(
    readonly turns: number,
    readonly most: number,
  ) {}
}

export interface TurnLimits {
  readonly maxOutputBytes: number;
  readonly maxLoopIterations: number;
}

/** The next turn of a loop, or its end. `entered`: the run comes from outside, so that counting begins anew. */
export function turnLoop(
  node: CompiledGraphNode,
  visits: GraphVisits,
  entered: boolean,
  values: ExpressionValues,
  limits: TurnLimits,
): NodeResult | TooManyTurns {
  const turns = entered ? NO_TURNS : turnsOf(node, visits);
  const index = turns.count;
  const config = node.config as LoopConfig;
  const most = Math.min(config.max ?? limits.maxLoopIterations, limits.maxLoopIterations);
  const next = wanted(node, config, turns, values);
  if ('kind' in next) return next;
  if (next.count !== undefined && next.count > most) return new TooManyTurns(next.count, most);
  if (!next.turns) return { kind: 'went', outcome: DONE, output: JSON.stringify({ count: index }) };
  if (index >= most) return new TooManyTurns(index + 1, most);
  const { item, items, count } = next;
  const turn: Turn = {
    index,
    ...(count !== undefined && { count }),
    ...('item' in next && { item }),
    ...(items && { items }),
  };
  return encoded(turn, limits.maxOutputBytes, (output) => ({ kind: 'went', outcome: TURN, output }));
}

/**
 * Whether a run that is at a loop has come to it from outside, and not back from a turn: nothing has turned since what it stands in
 * began anew. Asked by a worker, which was not there when the run came.
 */
export function isEntered(graph: CompiledGraph, node: CompiledGraphNode, visits: GraphVisits): boolean {
  const last = visits.last(node.id);
  if (last?.outcome !== TURN) return true;
  for (let { body } = node; body !== null; body = nodeOf(graph, body.block).body) {
    const begun = visits.last(body.block);
    if (begun && begun.ordinal > last.ordinal) return true;
  }
  return false;
}

/** Whether the `when` of a node, if it has one, is asked at a visit: it lets a run into the node, and a loop that comes back from a turn was let in. */
export function isWhenAsked(graph: CompiledGraph, node: CompiledGraphNode, visits: GraphVisits): boolean {
  return !(node.builtIn && node.type === 'loop') || isEntered(graph, node, visits);
}

/** The outcome that a turn begins with. */
export const TURN = 'each';

/** The turns since the loop was entered. */
interface Turns {
  readonly count: number;
  /** Of at least one: the first of them, decoded when it is asked for. */
  readonly first: () => Turn;
}

/** What there is before the first turn. */
const NO_TURNS: Turns = {
  count: 0,
  first: () => {
    throw new Error('The loop has not turned.');
  },
};

/** The last one says how many there are, so that a turn costs the same however many came before it. */
function turnsOf({ id }: CompiledGraphNode, visits: GraphVisits): Turns {
  const decoded = ({ output }: Visit): Turn => decodeJson(output ?? 'null', `The output of ${id}`) as Turn;
  const last = visits.last(id);
  if (last?.outcome !== TURN) return NO_TURNS;
  const { index } = decoded(last);
  const first = (): Turn =>
    decoded(
      visits
        .of(id)
        .filter(({ outcome }) => outcome === TURN)
        .at(-1 - index)!,
    );
  return { count: index + 1, first };
}

type Wanted =
  | { readonly turns: boolean; readonly count?: number; readonly item?: unknown; readonly items?: readonly unknown[] }
  | Extract<NodeResult, { kind: 'failed' }>;

function wanted(
  { expressions }: CompiledGraphNode,
  config: LoopConfig,
  { count: index, first }: Turns,
  values: ExpressionValues,
): Wanted {
  if (config.while !== undefined) {
    const answer = expressions.get('while')!.evaluate(values);
    return answer.ok ? { turns: answer.value === true } : { kind: 'failed', problem: answer.problem };
  }
  const entered = index === 0;
  if (config.forEach !== undefined) {
    const answer = entered ? expressions.get('forEach')!.evaluate(values) : { ok: true as const, value: first().items };
    if (!answer.ok) return { kind: 'failed', problem: answer.problem };
    const items = answer.value as readonly unknown[];
    const more = index < items.length;
    return { turns: more, count: items.length, ...(more && { item: items[index] }), ...(entered && { items }) };
  }
  if (typeof config.count === 'number') return { turns: index < config.count, count: config.count };
  const answer = entered ? expressions.get('count')!.evaluate(values) : { ok: true as const, value: first().count };
  if (!answer.ok) return { kind: 'failed', problem: answer.problem };
  return { turns: index < (answer.value as number), count: answer.value as number };
}
