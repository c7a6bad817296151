import type { RerunWay } from '../definition/index.js';
import { DONE, type CompiledGraph } from '../graph/index.js';
import { isEscalation } from '../state/escalation-key.js';
import type { RunState, StageRunState } from '../state/rows.js';
import { transitionOf } from './decide-graph.js';
import { GraphVisits, isWithin, nodeOf, type Visit } from './graph-visits.js';
import { GraphWalk, type WalkContext } from './graph-walk.js';
import { isEntered } from './loop-turn.js';

/**
 * Takes a run back to the last time that it came to a node: what it had done before is kept, the node is entered anew. A loop begins
 * with its first turn, a parallel node with its branches. From within a branch no run goes on: what the branches beside it have done
 * since would have to be taken back with it, and they would have to be begun again.
 */
export function rerunGraph(graph: CompiledGraph, state: RunState, id: string, context: WalkContext): RerunWay | string {
  const branch = graph.nodes.find(({ id: block, type }) => type === 'parallel' && isWithin(graph, id, block));
  if (branch) return `${id} stands in a branch of ${branch.id}. Rerun it from ${branch.id}.`;
  const came = lastEntry(graph, new GraphVisits(graph, state.stageRuns), id);
  if (came === undefined) return `It never got to ${id}. Rerun it from a node that it has been at.`;
  const visits = state.stageRuns.filter((one) => one.ordinal < came.ordinal && !isEscalation(one) && isKept(one));
  const kept = [...visits, ...visits.flatMap((visit) => escalationsOf(state, visit))];
  const walk = new GraphWalk(graph, state, kept, context);
  walk.enter(id);
  return { kept, entered: transitionOf(walk.go()) };
}

/** The visit with which the run last came to a node from outside of its own body. */
function lastEntry(graph: CompiledGraph, visits: GraphVisits, id: string): Visit | undefined {
  const node = nodeOf(graph, id);
  if (!node.builtIn) return visits.last(id);
  // Where it was joined it was come back to.
  if (node.type === 'parallel') return visits.last(id, ({ outcome }) => outcome !== DONE);
  if (node.type !== 'loop') return visits.last(id);
  const before: Visit[] = [];
  let entry: Visit | undefined;
  for (const visit of visits.all()) {
    if (visit.node === id && isEntered(graph, node, new GraphVisits(graph, before))) entry = visit;
    before.push(visit);
  }
  return entry;
}

/** What the run has gone on from: one that an escalation left, too. */
const isKept = ({ status, outcome }: StageRunState): boolean =>
  status === 'COMPLETED' || status === 'SKIPPED' || (status === 'CANCELLED' && Boolean(outcome));

/** They belong to their visit, whatever became of them. */
const escalationsOf = (state: RunState, { node, visit }: StageRunState): StageRunState[] =>
  state.stageRuns.filter((one) => isEscalation(one) && one.node === node && one.visit === visit);
