import type { CheckedNode } from './checked-node.js';
import type { Body } from './graph-bodies.js';
import type { OutputReads } from './graph-expressions.js';
import type { GraphFlow } from './graph-flow.js';
import type { GraphProblems } from './graph-problem.js';

/** A run can get to every node, and some node ends it. */
export function checkReach(flow: GraphFlow, start: CheckedNode | undefined, problems: GraphProblems): void {
  if (flow.nodes.length > 0 && !flow.nodes.some(({ type }) => type === 'end')) problems.add('NO_END', ['nodes'], {});
  if (start === undefined) return;
  const reached = flow.reach([start]);
  for (const { id, at } of flow.nodes.filter((node) => !reached.has(node)))
    problems.add('UNREACHABLE_NODE', ['nodes', at], { node: id, start: start.id });
}

/** An expression reads the outputs of nodes that may have run before its own. */
export function checkReads(
  reads: readonly OutputReads[],
  flow: GraphFlow,
  bodies: readonly Body[],
  problems: GraphProblems,
): void {
  const ways = new Map<CheckedNode, ReadonlySet<CheckedNode>>();
  const after = (node: CheckedNode): ReadonlySet<CheckedNode> => {
    let known = ways.get(node);
    if (known === undefined) ways.set(node, (known = afterEnd(node, flow, bodies)));
    return known;
  };
  for (const { path, reader, outputs } of reads) {
    const here = flow.byId.get(reader);
    for (const output of outputs) {
      const read = flow.byId.get(output);
      if (read === undefined) {
        const suggestion = problems.closest(output, [...flow.byId.keys()]);
        problems.add('UNKNOWN_NODE', path, { node: output.slice(0, 200), suggestion });
      } else if (here !== undefined && !after(read).has(here)) {
        problems.add('OUTPUT_NOT_AVAILABLE', path, { output, node: reader });
      }
    }
  }
}

/**
 * The nodes that a run may get to once a node has ended. What comes back to a parallel node goes on after it, never into
 * another branch: branches begin together. A parallel node has no output inside of its branches.
 */
function afterEnd(node: CheckedNode, flow: GraphFlow, bodies: readonly Body[]): ReadonlySet<CheckedNode> {
  const branches = bodies.filter(({ block }) => block.type === 'parallel');
  const joining = new Set(branches.flatMap(({ back }) => back));
  const forks = new Set(branches.map(({ edge }) => edge));
  /** Parallel nodes that were come back to, and those that were entered as any other node. */
  const joined = new Set<CheckedNode>(node.type === 'parallel' ? [node] : []);
  const entered = new Set<CheckedNode>(node.type === 'parallel' ? [] : [node]);
  const reached = new Set<CheckedNode>();
  const go = (from: CheckedNode, intoBranches: boolean): void => {
    for (const edge of flow.out(from)) {
      if (!intoBranches && forks.has(edge)) continue;
      if (joining.has(edge)) joined.add(edge.to);
      else {
        reached.add(edge.to);
        entered.add(edge.to);
      }
    }
  };
  for (let before = -1; before !== joined.size + entered.size;) {
    before = joined.size + entered.size;
    for (const from of joined) go(from, false);
    for (const from of entered) go(from, true);
  }
  return reached;
}
