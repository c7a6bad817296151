import type { CheckedNode } from './checked-node.js';
import type { Body } from './graph-bodies.js';
import type { FlowEdge, GraphFlow } from './graph-flow.js';
import type { GraphProblems } from './graph-problem.js';

const MAX_SHOWN = 20;

/** Complains about each edge that closes a circle, but for those by which a body comes back to its block. */
export function checkCycles(flow: GraphFlow, bodies: readonly Body[], problems: GraphProblems): void {
  const back = new Set(bodies.flatMap((body) => body.back));
  const ended = new Set<CheckedNode>();
  for (const node of flow.nodes) if (!ended.has(node)) walk(node, flow, back, ended, problems);
}

interface Step {
  readonly node: CheckedNode;
  readonly edges: Iterator<FlowEdge>;
}

/** Depth first, with a stack of its own: a way may be as long as there are nodes. */
function walk(
  from: CheckedNode,
  flow: GraphFlow,
  back: ReadonlySet<FlowEdge>,
  ended: Set<CheckedNode>,
  problems: GraphProblems,
): void {
  const step = (node: CheckedNode): Step => ({ node, edges: flow.out(node)[Symbol.iterator]() });
  const way = [step(from)];
  const open = new Set([from]);
  for (let top = way.at(-1); top !== undefined; top = way.at(-1)) {
    const { value: edge, done } = top.edges.next();
    if (done === true) {
      way.pop();
      open.delete(top.node);
      ended.add(top.node);
    } else if (back.has(edge)) continue;
    else if (open.has(edge.to)) problems.add('GRAPH_CYCLE', ['edges', edge.at], { cycle: circle(way, edge) });
    else if (!ended.has(edge.to)) {
      open.add(edge.to);
      way.push(step(edge.to));
    }
  }
}

function circle(way: readonly Step[], edge: FlowEdge): string {
  const ids = way.slice(way.findIndex(({ node }) => node === edge.to)).map(({ node }) => node.id);
  const shown = ids.length > MAX_SHOWN ? [...ids.slice(0, MAX_SHOWN), '…'] : ids;
  return [...shown, edge.to.id].join(' → ');
}
