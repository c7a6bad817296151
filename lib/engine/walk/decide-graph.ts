import type { NodeVisited } from '../definition/index.js';
import type { CompiledGraph } from '../graph/index.js';
import type { EnteredRun } from '../state/deciding.js';
import { failedEvent, NO_CHANGE } from '../state/enter-node.js';
import type { RunState, Transition } from '../state/rows.js';
import { GraphWalk, type WalkContext, type Walked } from './graph-walk.js';

/** What a new run of a graph begins with. A delayed run tells `run:started` when it becomes due. */
export function decideGraphStart(
  graph: CompiledGraph,
  run: Omit<EnteredRun, 'stageRunCount'>,
  delayed: boolean,
  context: WalkContext,
): Transition {
  const walk = new GraphWalk(graph, { ...run, stageRunCount: 0 }, [], context);
  walk.enter(graph.start);
  const first = transitionOf(walk.go());
  if (delayed && first.run === null) return first;
  return { ...first, events: [{ type: 'run:started' }, ...first.events] };
}

/**
 * What follows once workers have brought visits to their ends: asked under the run's lock, with the rows as they are then. All that
 * ended in one call is given at once; asked one by one, a branch whose last node has ended would be taken for done.
 */
export function decideGraphSettled(
  graph: CompiledGraph,
  state: RunState,
  settled: readonly NodeVisited[],
  context: WalkContext,
): Transition {
  const walk = new GraphWalk(graph, state, state.stageRuns, context);
  for (const { node, visit } of settled) {
    const stageRun = state.stageRuns.find((candidate) => candidate.node === node && candidate.visit === visit);
    // Of a generation before, or set aside meanwhile: nothing follows from it.
    if (stageRun) walk.ended(stageRun);
  }
  return transitionOf(walk.go());
}

/** What is open when a run fails is cancelled with it; the hooks of live stages are the caller's to ask for (FAIL-1). */
function transitionOf({ stageRuns, events, end, cancelled }: Walked): Transition {
  const written = { ...NO_CHANGE, stageRuns, run: end, ...(cancelled.length > 0 && { cancelled }) };
  if (end?.to !== 'FAILED') return { ...written, events };
  return { ...written, events: [...events, failedEvent(end.failure)], cancelOpen: true };
}
