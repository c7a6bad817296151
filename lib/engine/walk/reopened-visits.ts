import type { CompiledGraph } from '../graph/index.js';
import { escalationLevel, isEscalation } from '../state/escalation-key.js';
import type { RunState, StageRunState } from '../state/rows.js';
import { GraphVisits, nodeOf } from './graph-visits.js';

/**
 * What a manual retry opens again: the visit that failed, and the branches beside it that were cancelled with it. Branches that
 * nobody waited for any more were cancelled before, and stay so: their node was joined without them; so do visits that an
 * escalation left. With a visit those of its escalations that had not fired: their time begins anew, what fired stays fired (ESC-1).
 */
export function reopenedVisits(
  graph: CompiledGraph,
  state: RunState,
  failed: StageRunState,
): readonly StageRunState[] | string {
  if (failed.attempt === 0)
    return `${failed.node} failed on what the run holds, which no retry changes. Rerun it from a node before that one.`;
  const visits = new GraphVisits(graph, state.stageRuns);
  const beside = state.stageRuns.filter(
    (stageRun) => stageRun.status === 'CANCELLED' && !isEscalation(stageRun) && isAwaited(graph, visits, stageRun),
  );
  const reopened = [failed, ...beside];
  return [...reopened, ...reopened.flatMap((visit) => escalationsOf(graph, state, visit))];
}

/** Those of a visit that were cancelled with it, and that this version of the graph still has. */
function escalationsOf(graph: CompiledGraph, state: RunState, { node, visit }: StageRunState): StageRunState[] {
  const { escalations } = nodeOf(graph, node);
  return state.stageRuns.filter((one) => {
    if (one.node !== node || one.visit !== visit || one.status !== 'CANCELLED') return false;
    const level = escalationLevel(one.key);
    return level !== null && escalations[level - 1]?.type === one.stage;
  });
}

/** The visit stands in a branch, and every branch that it stands in is still under way. */
function isAwaited(graph: CompiledGraph, visits: GraphVisits, { node, ordinal, outcome }: StageRunState): boolean {
  // Left by an escalation: the run went on from there.
  if (outcome) return false;
  let branches = 0;
  for (let { body } = nodeOf(graph, node); body !== null; body = nodeOf(graph, body.block).body) {
    const { type } = nodeOf(graph, body.block);
    const begun = visits.last(body.block);
    if (begun === undefined || begun.ordinal > ordinal) return false;
    if (type !== 'parallel') continue;
    if (begun.outcome !== null) return false;
    branches += 1;
  }
  return branches > 0;
}
