import { canonicalJson } from '../codec/canonical-json.js';
import { jsonPath } from '../codec/json-path.js';
import type { GraphPath } from './graph-problem.js';
import type { Graph, GraphEdge } from './graph-schema.js';
import { DONE } from './outcome.js';

/** One difference between two graphs. */
export interface GraphChange {
  readonly change: 'added' | 'removed' | 'changed';
  /** `graph`: name, description, input and start. */
  readonly part: 'node' | 'edge' | 'trigger' | 'settings' | 'graph';
  /** Of a node or trigger its id, of an edge `from → outcome`. */
  readonly id: string | null;
  /** Where: in the later graph; of what was removed in the earlier one. */
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** What has an id of its own, with its place. */
interface Item {
  readonly id: string;
  readonly path: GraphPath;
  readonly value: unknown;
}

/**
 * What is different in a graph that was changed: nodes and triggers by their ids, edges by node and outcome, all else field by
 * field. The order of nodes and edges means nothing, but that a run begins with the first node where nothing else is said.
 */
export function diffGraphs(before: Graph, after: Graph): readonly GraphChange[] {
  return [
    ...diffFields('graph', null, headOf(before), headOf(after), []),
    ...diffFields('settings', null, before.settings ?? {}, after.settings ?? {}, ['settings']),
    ...diffItems('trigger', items(before, 'triggers'), items(after, 'triggers')),
    ...diffItems('node', items(before, 'nodes'), items(after, 'nodes')),
    ...diffItems('edge', edges(before), edges(after)),
  ];
}

function headOf({ id, name, description, input, start, nodes }: Graph): object {
  return { id, name, description, input, start: start ?? nodes[0]?.id };
}

function items(graph: Graph, list: 'nodes' | 'triggers'): Item[] {
  return (graph[list] ?? []).map((value, at) => ({ id: value.id, path: [list, at], value }));
}

function edges(graph: Graph): Item[] {
  const seen = new Map<string, number>();
  return graph.edges.map((edge: GraphEdge, at) => {
    const name = `${edge.from} → ${edge.outcome ?? DONE}`;
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    // A draft may have two edges of one name.
    const id = count === 1 ? name : `${name} (${count})`;
    return { id, path: ['edges', at], value: { from: edge.from, outcome: edge.outcome ?? DONE, to: edge.to } };
  });
}

function diffItems(part: GraphChange['part'], before: readonly Item[], after: readonly Item[]): GraphChange[] {
  const old = new Map(before.map((item) => [item.id, item]));
  const kept = new Set(after.map(({ id }) => id));
  const removed = before.filter(({ id }) => !kept.has(id));
  return [
    ...removed.map(({ id, path, value }) => {
      return { change: 'removed', part, id, path: jsonPath('$', path), before: value } as const;
    }),
    ...after.flatMap(({ id, path, value }): GraphChange[] => {
      const earlier = old.get(id);
      if (earlier === undefined) return [{ change: 'added', part, id, path: jsonPath('$', path), after: value }];
      return diffFields(part, id, earlier.value, value, path);
    }),
  ];
}

/** Objects field by field; lists and all else as a whole. */
function diffFields(
  part: GraphChange['part'],
  id: string | null,
  before: unknown,
  after: unknown,
  path: GraphPath,
): GraphChange[] {
  if (canonicalJson(before) === canonicalJson(after) && (before === undefined) === (after === undefined)) return [];
  if (isObject(before) && isObject(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...names].flatMap((name) => diffFields(part, id, own(before, name), own(after, name), [...path, name]));
  }
  const change = before === undefined ? 'added' : after === undefined ? 'removed' : 'changed';
  const at = { part, id, path: jsonPath('$', path) };
  return [{ change, ...at, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) }];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function own(value: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}
