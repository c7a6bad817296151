import type { ProblemCode } from '../../../../../lib/engine/graph/index.js';

/** A graph with faults, and what it must be answered with: all of that, in this order, and nothing else. */
export interface FaultyGraph {
  readonly name: string;
  readonly graph: unknown;
  readonly problems: readonly (readonly [code: ProblemCode, path: string])[];
}

type Json = Readonly<Record<string, unknown>>;

/** A graph without faults but for what is given over it: `a` → `b` → `end`, both notes. */
export function graphOf(over: Json = {}): Json {
  return {
    id: 'faulty',
    input: {
      type: 'object',
      properties: { amount: { type: 'number' }, name: { type: 'string' }, ok: { type: 'boolean' } },
    },
    nodes: [note('a'), note('b'), end],
    edges: [edge('a', 'b'), edge('b', 'end')],
    ...over,
  };
}

/** One node between start and end: what follows it is `end`, by each of the outcomes. */
export function around(node: Json, outcomes: readonly (string | undefined)[] = [undefined], over: Json = {}): Json {
  return graphOf({
    nodes: [note('a'), node, end],
    edges: [edge('a', String(node.id)), ...outcomes.map((outcome) => edge(String(node.id), 'end', outcome))],
    ...over,
  });
}

export function edge(from: string, to: string, outcome?: string): Json {
  return outcome === undefined ? { from, to } : { from, outcome, to };
}

export const end: Json = { id: 'end', type: 'end' };

export function note(id: string, over: Json = {}): Json {
  return { id, type: 'acme.note', ...over };
}
