import type { CheckedNode } from './checked-node.js';
import type { GraphProblems } from './graph-problem.js';
import type { GraphEdge } from './graph-schema.js';
import { DONE } from './outcome.js';

/** An edge between two nodes that exist. */
export interface FlowEdge {
  /** Place in the list of edges, from 0. */
  readonly at: number;
  readonly from: CheckedNode;
  readonly outcome: string;
  readonly to: CheckedNode;
}

/** The nodes of a graph and how they follow each other. */
export class GraphFlow {
  readonly byId: ReadonlyMap<string, CheckedNode>;
  readonly edges: readonly FlowEdge[];
  readonly #out = new Map<CheckedNode, FlowEdge[]>();
  readonly #in = new Map<CheckedNode, FlowEdge[]>();

  constructor(
    /** In the order of the graph; of two with the same id the first one is met. */
    readonly nodes: readonly CheckedNode[],
    edges: readonly { readonly at: number; readonly edge: GraphEdge }[],
    problems: GraphProblems,
  ) {
    this.byId = new Map([...nodes].reverse().map((node) => [node.id, node]));
    this.edges = edges.flatMap(({ at, edge }) => {
      const from = this.#find(edge.from, ['edges', at, 'from'], problems);
      const to = this.#find(edge.to, ['edges', at, 'to'], problems);
      return from && to ? [{ at, from, outcome: edge.outcome ?? DONE, to }] : [];
    });
    for (const edge of this.edges) {
      listIn(this.#out, edge.from).push(edge);
      listIn(this.#in, edge.to).push(edge);
    }
  }

  out(node: CheckedNode): readonly FlowEdge[] {
    return this.#out.get(node) ?? [];
  }

  in(node: CheckedNode): readonly FlowEdge[] {
    return this.#in.get(node) ?? [];
  }

  /** Where `start` leads, or the first node; undefined with a problem where it leads nowhere. */
  startOf(start: unknown, problems: GraphProblems): CheckedNode | undefined {
    return start === undefined ? this.nodes[0] : this.#find(String(start), ['start'], problems);
  }

  /** All nodes that are reached from some, those included, without entering others. */
  reach(from: readonly CheckedNode[], follow: (edge: FlowEdge) => boolean = () => true): Set<CheckedNode> {
    const seen = new Set(from);
    // A set is iterated to its end, which moves away as nodes are added.
    for (const node of seen) {
      for (const edge of this.out(node)) if (follow(edge)) seen.add(edge.to);
    }
    return seen;
  }

  #find(id: string, path: readonly (string | number)[], problems: GraphProblems): CheckedNode | undefined {
    const node = this.byId.get(id);
    if (node === undefined) {
      const suggestion = problems.closest(id, [...this.byId.keys()]);
      problems.add('UNKNOWN_NODE', path, { node: id.slice(0, 200), suggestion });
    }
    return node;
  }
}

function listIn<K, V>(lists: Map<K, V[]>, key: K): V[] {
  let list = lists.get(key);
  if (list === undefined) lists.set(key, (list = []));
  return list;
}
