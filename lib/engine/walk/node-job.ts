import type { CompiledGraph, CompiledGraphNode } from '../graph/index.js';
import type { DecideContext } from '../state/deciding.js';
import { capOf } from '../state/enter-node.js';
import type { NewJob } from '../state/rows.js';

/** A job for a visit of a node: its queue is the node's → the run's → the graph's → the module's (RUN-6). */
export function nodeJob(
  node: CompiledGraphNode,
  run: { readonly queue: string | null },
  graph: CompiledGraph,
  context: DecideContext,
): NewJob {
  const queue = node.queue ?? run.queue ?? graph.settings.queue ?? context.defaultQueue;
  return { id: context.nextId(), queue, capMs: capOf(node) };
}
