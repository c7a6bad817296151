import type { RetryWay } from '../definition/index.js';
import { DONE, SKIPPED, type CompiledGraph } from '../graph/index.js';
import { escalationLevel, isEscalation } from '../state/escalation-key.js';
import type { RunState, StageRunState } from '../state/rows.js';
import { transitionOf } from './decide-graph.js';
import { GraphVisits, nodeOf } from './graph-visits.js';
import { branchesOf, GraphWalk, isFork, type WalkContext } from './graph-walk.js';

/**
 * What a manual retry opens again: the visits that failed, and the branches beside them that were cancelled with them. Branches that
 * nobody waited for any more were cancelled before, and stay so: their node was joined without them; so do visits that an
 * escalation left. With a visit those of its escalations that had not fired: their time begins anew, what fired stays fired (ESC-1).
 *
 * A failure decides alone, so what ended in the same call as it was not followed: it is now. Where that fulfils an "any", its branches
 * stay as they ended.
 */
export function reopenedVisits(
  graph: CompiledGraph,
  state: RunState,
  failed: StageRunState,
  context: WalkContext,
): RetryWay | string {
  if (failed.attempt === 0)
    return `${failed.node} failed on what the run holds, which no retry changes. Rerun it from a node before that one.`;
  const visits = new GraphVisits(graph, state.stageRuns);
  const awaited = state.stageRuns.filter((stageRun) => !isEscalation(stageRun) && isAwaited(graph, visits, stageRun));
  const opened = new Set([failed, ...awaited.filter(isToOpen)]);
  const reopened = [...opened, ...[...opened].flatMap((visit) => escalationsOf(graph, state, visit))];
  const walk = new GraphWalk(graph, state, withPending(state.stageRuns, reopened), context);
  for (const visit of awaited) if (isUnfollowed(graph, visits, visit)) walk.ended(visit);
  const walked = walk.go();
  if (walked.end?.to === 'FAILED') return walked.end.failure.message;
  return {
    reopened: reopened.filter(({ id }) => !walked.cancelled.includes(id)),
    // None of them is open yet: what is left is not opened.
    entered: transitionOf({ ...walked, cancelled: [] }),
  };
}

/** One that an escalation left went on from there. */
const isToOpen = ({ status, outcome }: StageRunState): boolean =>
  status === 'FAILED' || (status === 'CANCELLED' && !outcome);

/** The rows as they are once these are open again. */
function withPending(stageRuns: readonly StageRunState[], reopened: readonly StageRunState[]): StageRunState[] {
  const open = new Set(reopened);
  return stageRuns.map((stageRun) => (open.has(stageRun) ? { ...stageRun, status: 'PENDING' } : stageRun));
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

/** The visit has ended, and the run has come to none of the nodes since that it leads to. */
function isUnfollowed(graph: CompiledGraph, visits: GraphVisits, visit: StageRunState): boolean {
  if (visit.status !== 'COMPLETED' && visit.status !== 'SKIPPED') return false;
  return leadsTo(graph, visit).every((node) => (visits.last(node)?.ordinal ?? 0) <= visit.ordinal);
}

function leadsTo(graph: CompiledGraph, { node: id, status, output, outcome = null }: StageRunState): string[] {
  const node = nodeOf(graph, id);
  const by = (name: string): string[] => [node.edges.get(name) ?? []].flat();
  if (status === 'SKIPPED') return by(node.skipOutcome ?? SKIPPED);
  if (!isFork(node, outcome)) return by(outcome ?? DONE);
  const branches = branchesOf(output);
  // Where none begins, it is joined at once.
  return branches.length === 0 ? [id] : branches.flatMap(by);
}
