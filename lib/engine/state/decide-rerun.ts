import { closestName } from '../../errors/index.js';
import type { CompiledDefinition, CompiledNode, RerunWay } from '../definition/compiled-definition.js';
import type { DecideContext } from './deciding.js';
import { enterNode } from './enter-node.js';
import { nodeOutput } from './node-output.js';
import type { RunState, StageRunState, Transition } from './rows.js';
import type { RunStatus } from './statuses.js';
import { nextRunStatus } from './transition-tables.js';

export type RerunDecision =
  | { readonly transition: Transition; readonly node: string; readonly generation: number }
  | { readonly refused: string };

/**
 * A rerun: what stands before `nodeKey` is kept with its outputs, that node and all later ones are set aside as history, and
 * the run goes on from there in a new generation (RUN-5). The key of a branch means the node that it stands in.
 *
 * Refused, with a sentence that says why, where the run has not ended or does not have what the node begins with.
 */
export function decideRerun(
  definition: CompiledDefinition | undefined,
  state: RunState,
  nodeKey: string,
  context: DecideContext,
): RerunDecision {
  if (!nextRunStatus(state.status, 'rerun')) return { refused: unended(state.status) };
  if (!definition)
    return { refused: 'This build does not serve its definition. Rerun it where the definition is served.' };
  const index = definition.nodes.findIndex(
    ({ key, stages }) => key === nodeKey || stages.some((s) => s.key === nodeKey),
  );
  if (index < 0) return { refused: noSuchNode(definition, nodeKey) };
  const node = definition.nodes[index]!;
  if (definition.ways) {
    const way = definition.ways.rerun(state, node.key, context);
    return typeof way === 'string' ? { refused: way } : goOn(state, node, way);
  }
  const before = definition.nodes.slice(0, index);
  const missing = before.find((earlier) => !hasEnded(earlier, state.stageRuns));
  if (missing) {
    const why = `It never got to ${node.key}: ${missing.key}, which comes before it, has not completed.`;
    return { refused: `${why} Rerun it from ${missing.key}.` };
  }

  const names = new Set(before.map(({ key }) => key));
  const kept = state.stageRuns.filter((stageRun) => names.has(stageRun.node));
  const last = before.at(-1);
  const input = last ? nodeOutput(last, kept) : state.input;
  return goOn(state, node, { kept, entered: enterNode(definition, state, index, input, context) });
}

function goOn(state: RunState, node: CompiledNode, { kept, entered }: RerunWay): RerunDecision {
  // It would fail before anything of it ran: then it stays as it ended.
  if (entered.run?.to === 'FAILED') return { refused: entered.run.failure.message };
  const generation = state.generation + 1;
  return {
    node: node.key,
    generation,
    transition: {
      ...entered,
      run: entered.run ?? { to: 'RUNNING' },
      rerun: { kept: kept.map(({ id }) => id) },
      events: [{ type: 'run:retried', data: { node: node.key, generation, rerun: true } }, ...entered.events],
    },
  };
}

/** Every stage of a node has come to an end that the next node can go on from. */
function hasEnded(node: CompiledNode, stageRuns: readonly StageRunState[]): boolean {
  return node.stages.every(({ key }) =>
    stageRuns.some(
      (stageRun) =>
        stageRun.node === node.key &&
        stageRun.key === key &&
        (stageRun.status === 'COMPLETED' || stageRun.status === 'SKIPPED'),
    ),
  );
}

function noSuchNode({ id, version, nodes }: CompiledDefinition, nodeKey: string): string {
  const keys = [...new Set(nodes.flatMap(({ key, stages }) => [key, ...stages.map((stage) => stage.key)]))];
  const near = closestName(nodeKey, keys);
  const hint = near === undefined ? `There are ${keys.join(', ')}.` : `Did you mean ${near}?`;
  return `Version ${version} of ${id} has no node ${nodeKey}. ${hint}`;
}

function unended(status: RunStatus): string {
  return status === 'PENDING' ? 'It has not begun yet.' : 'It has not ended yet. Cancel it first, or wait for its end.';
}
