import type { EndedNode, NodeVisited, VisitsBefore } from '../definition/index.js';
import type { CompiledGraph, CompiledGraphNode } from '../graph/index.js';
import type { EnteredRun } from '../state/deciding.js';
import { failedEvent, NO_CHANGE } from '../state/enter-node.js';
import { isEscalation } from '../state/escalation-key.js';
import type { RunState, Transition } from '../state/rows.js';
import { nodeOf, rowsOfEnded } from './graph-visits.js';
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
 * ended in one call is given at once; asked one by one, a branch whose last node has ended would be taken for done. A visit that ended
 * by itself has won against an escalation that was to take another edge.
 */
export function decideGraphSettled(
  graph: CompiledGraph,
  state: RunState,
  settled: readonly NodeVisited[],
  escalated: readonly string[],
  context: WalkContext,
): Transition {
  const walk = new GraphWalk(graph, state, state.stageRuns, context);
  for (const { node, visit } of settled) {
    const stageRun = state.stageRuns.find(
      (candidate) => candidate.node === node && candidate.visit === visit && !isEscalation(candidate),
    );
    // Of a generation before, or set aside meanwhile: nothing follows from it.
    if (stageRun) walk.ended(stageRun);
  }
  for (const id of escalated) {
    const escalation = state.stageRuns.find((candidate) => candidate.id === id);
    if (escalation?.status === 'COMPLETED' && escalation.outcome) walk.leave(escalation, escalation.outcome);
  }
  return transitionOf(walk.go());
}

/**
 * What follows the end of a node where nothing of the run but that node was open: it stands in no branch. Null: the rows must be looked
 * at, since branches begin, or the run fails, or it comes to nodes of which visits may have been cancelled, which a worker is not told.
 */
export function decideGraphAlone(
  graph: CompiledGraph,
  run: EnteredRun,
  { earlier, unlisted }: VisitsBefore,
  ended: EndedNode,
  context: WalkContext,
): Transition | null {
  const node = nodeOf(graph, ended.node);
  if (node.escalations.length > 0 || isInBranch(graph, node)) return null;
  const walk = new GraphWalk(graph, run, rowsOfEnded([...earlier, ended]), context);
  walk.ended(ended);
  const transition = transitionOf(walk.go());
  if (transition.cancelled || (transition.run !== null && transition.run.to !== 'COMPLETED')) return null;
  // What this version cannot have left, one that the run was migrated from may have.
  const mayBeUntold = (id: string): boolean => unlisted.includes(id) || mayLeaveCancelled(graph, nodeOf(graph, id));
  return transition.stageRuns.some(({ node: id }) => mayBeUntold(id)) ? null : transition;
}

function isInBranch(graph: CompiledGraph, { body }: CompiledGraphNode): boolean {
  for (let at = body; at !== null; at = nodeOf(graph, at.block).body)
    if (nodeOf(graph, at.block).type === 'parallel') return true;
  return false;
}

/** Branches may be cancelled, and visits that an escalation ends. */
const mayLeaveCancelled = (graph: CompiledGraph, node: CompiledGraphNode): boolean =>
  node.escalations.length > 0 || isInBranch(graph, node);

/** What is open when a run fails is cancelled with it; the hooks of live stages are the caller's to ask for (FAIL-1). */
export function transitionOf({ stageRuns, events, end, cancelled, leftBy }: Walked): Transition {
  const written = { ...NO_CHANGE, stageRuns, run: end, ...(cancelled.length > 0 && { cancelled, leftBy }) };
  if (end?.to !== 'FAILED') return { ...written, events };
  return { ...written, events: [...events, failedEvent(end.failure)], cancelOpen: true };
}
