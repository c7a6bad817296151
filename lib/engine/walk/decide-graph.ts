import type { NodeVisited } from '../definition/index.js';
import { DONE, type CompiledGraph, type CompiledGraphNode } from '../graph/index.js';
import type { EnteredRun } from '../state/deciding.js';
import { failedEvent, NO_CHANGE } from '../state/enter-node.js';
import type { RunState, Transition } from '../state/rows.js';
import { nodeOf } from './graph-visits.js';
import { GraphWalk, type WalkContext, type Walked } from './graph-walk.js';
import { isInline } from './inline-nodes.js';

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

/**
 * What follows the end of a node where nothing but the graph need be looked at: one node for a worker, neither of them in a body,
 * so that it has not been visited before and nothing else is open. Null: the rows must be looked at.
 */
export function decideGraphAlone(
  graph: CompiledGraph,
  run: EnteredRun,
  id: string,
  outcome: string | null,
  context: WalkContext,
): Transition | null {
  const node = nodeOf(graph, id);
  const to = node.edges.get(outcome ?? DONE);
  if (to === undefined || !isPlain(node)) return null;
  const next = nodeOf(graph, to);
  if (!isPlain(next) || next.when !== null || isInline(next)) return null;
  const walk = new GraphWalk(graph, run, [], context);
  walk.enter(to);
  const transition = transitionOf(walk.go());
  return transition.run === null ? transition : null;
}

/** One that is passed once, and has nothing beside it. */
function isPlain({ body, escalations, builtIn, type }: CompiledGraphNode): boolean {
  return body === null && escalations.length === 0 && !(builtIn && (type === 'loop' || type === 'parallel'));
}

/** What is open when a run fails is cancelled with it; the hooks of live stages are the caller's to ask for (FAIL-1). */
export function transitionOf({ stageRuns, events, end, cancelled }: Walked): Transition {
  const written = { ...NO_CHANGE, stageRuns, run: end, ...(cancelled.length > 0 && { cancelled }) };
  if (end?.to !== 'FAILED') return { ...written, events };
  return { ...written, events: [...events, failedEvent(end.failure)], cancelOpen: true };
}
