import type { CheckedNode } from './checked-node.js';
import type { FlowEdge, GraphFlow } from './graph-flow.js';
import type { GraphProblems } from './graph-problem.js';
import { DONE, SKIPPED } from './outcome.js';

/** A turn of a loop, or a branch of a parallel node: all that follows its edge before the node is reached again. */
export interface Body {
  /** The loop or the parallel node. */
  readonly block: CheckedNode;
  /** The edge that it begins with. */
  readonly edge: FlowEdge;
  readonly nodes: ReadonlySet<CheckedNode>;
  /** The edges out of it that end the run. An end is part of no body: bodies may share it. */
  readonly ends: readonly FlowEdge[];
  /** The edges that come back to the block. */
  readonly back: readonly FlowEdge[];
}

/** Finds the bodies of loops and parallel nodes. */
export function findBodies(flow: GraphFlow): readonly Body[] {
  return flow.nodes.flatMap((block) => {
    return flow
      .out(block)
      .filter((edge) => beginsBody(block, edge))
      .map((edge) => bodyOf(block, edge, flow));
  });
}

function beginsBody({ type, outcomes }: CheckedNode, { outcome }: FlowEdge): boolean {
  if (outcomes !== null) return outcomes.some(({ name, body }) => body && name === outcome);
  // The config is not right, and was complained about; what the edges mean is plain all the same.
  return type === 'loop' ? outcome === 'each' : type === 'parallel' && outcome !== DONE && outcome !== SKIPPED;
}

function bodyOf(block: CheckedNode, edge: FlowEdge, flow: GraphFlow): Body {
  const outside = (node: CheckedNode): boolean => node === block || node.type === 'end';
  // An edge from a block to itself is a body of nothing.
  const nodes = outside(edge.to) ? new Set<CheckedNode>() : flow.reach([edge.to], ({ to }) => !outside(to));
  const leaving = [edge, ...[...nodes].flatMap((node) => flow.out(node))];
  return {
    block,
    edge,
    nodes,
    ends: leaving.filter(({ to }) => to.type === 'end'),
    back: flow.in(block).filter(({ from }) => nodes.has(from)),
  };
}

/** A body is entered at its beginning only, and comes back to its block; that of a parallel node on every way. */
export function checkBodies(
  bodies: readonly Body[],
  flow: GraphFlow,
  start: CheckedNode | undefined,
  problems: GraphProblems,
): void {
  const told = new Set<FlowEdge>();
  for (const body of bodies) {
    const { block, edge, nodes, ends, back } = body;
    const names = { body: describe(body), block: block.id };
    if (back.length === 0) problems.add('BODY_NOT_CLOSED', ['edges', edge.at], names);
    // A run that began inside would come back to a block that it has never entered.
    if (start !== undefined && nodes.has(start))
      problems.add('BODY_ENTERED', ['start'], { ...names, from: 'the start', to: start.id });
    for (const entry of flow.edges) {
      if (entry === edge || !nodes.has(entry.to) || nodes.has(entry.from) || told.has(entry)) continue;
      told.add(entry);
      problems.add('BODY_ENTERED', ['edges', entry.at], { ...names, from: entry.from.id, to: entry.to.id });
    }
    if (block.type !== 'parallel') continue;
    for (const { at, to } of ends) problems.add('END_IN_BRANCH', ['edges', at, 'to'], { ...names, node: to.id });
  }
}

function describe({ block, edge }: Body): string {
  return block.type === 'loop' ? `the body of loop ${block.id}` : `branch "${edge.outcome}" of ${block.id}`;
}

/** The innermost body of each node that stands in one. */
export function innermostBodies(bodies: readonly Body[]): ReadonlyMap<CheckedNode, Body> {
  const innermost = new Map<CheckedNode, Body>();
  for (const body of [...bodies].sort((a, b) => b.nodes.size - a.nodes.size)) {
    for (const node of body.nodes) innermost.set(node, body);
  }
  return innermost;
}
