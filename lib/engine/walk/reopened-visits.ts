import type { CompiledGraph } from '../graph/index.js';
import type { RunState, StageRunState } from '../state/rows.js';
import { GraphVisits, nodeOf } from './graph-visits.js';

/**
 * What a manual retry opens again: the visit that failed, and the branches beside it that were cancelled with it. Branches that
 * nobody waited for any more were cancelled before, and stay so: their node was joined without them.
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
    (stageRun) => stageRun.status === 'CANCELLED' && isAwaited(graph, visits, stageRun),
  );
  return [failed, ...beside];
}

/** The visit stands in a branch, and every branch that it stands in is still under way. */
function isAwaited(graph: CompiledGraph, visits: GraphVisits, { node, ordinal }: StageRunState): boolean {
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
