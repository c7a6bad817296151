import type { CheckedNode } from './checked-node.js';
import type { FlowEdge, GraphFlow } from './graph-flow.js';
import type { GraphProblems } from './graph-problem.js';
import { SKIPPED } from './outcome.js';

/** Each outcome of a node leads on by one edge, and each edge belongs to an outcome. */
export function checkEdges(flow: GraphFlow, problems: GraphProblems): void {
  for (const node of flow.nodes) {
    const edges = flow.out(node);
    checkDuplicates(edges, problems);
    if (node.outcomes === null) continue;
    for (const edge of edges) checkOutcome(node, node.outcomes, edge, problems);
    checkMissing(node, node.outcomes, edges, problems);
  }
}

function checkDuplicates(edges: readonly FlowEdge[], problems: GraphProblems): void {
  const first = new Map<string, FlowEdge>();
  for (const edge of edges) {
    const { at, from, outcome } = edge;
    const other = first.get(outcome);
    if (other === undefined) first.set(outcome, edge);
    else problems.add('DUPLICATE_EDGE', ['edges', at], { node: from.id, outcome, first: other.to.id });
  }
}

function checkOutcome(
  { id: node, type }: CheckedNode,
  outcomes: NonNullable<CheckedNode['outcomes']>,
  { at, outcome }: FlowEdge,
  problems: GraphProblems,
): void {
  const names = outcomes.map(({ name }) => name);
  if (names.includes(outcome)) return;
  const params = { node, type, outcome: outcome.slice(0, 100), outcomes: names.join(', ') || 'nothing, the run ends' };
  problems.add('UNKNOWN_OUTCOME', ['edges', at, 'outcome'], {
    ...params,
    suggestion: problems.closest(outcome, names),
  });
}

function checkMissing(
  node: CheckedNode,
  outcomes: NonNullable<CheckedNode['outcomes']>,
  edges: readonly FlowEdge[],
  problems: GraphProblems,
): void {
  if (outcomes.length === 0) return;
  const path = ['nodes', node.at];
  if (edges.length === 0) return problems.add('DEAD_END', path, { node: node.id });
  const led = new Set(edges.map(({ outcome }) => outcome));
  // A node that may be skipped and has no outcome that this could count as must say where it goes then.
  const skipNeeded = node.compiled.when !== null && !outcomes.some(({ main }) => main);
  for (const { name, required } of outcomes) {
    if (!led.has(name) && (required || (name === SKIPPED && skipNeeded)))
      problems.add('MISSING_EDGE', path, { node: node.id, outcome: name });
  }
}
