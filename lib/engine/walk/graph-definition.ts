import type { CompiledDefinition, CompiledStage } from '../definition/index.js';
import type { CompiledEscalation, CompiledGraph } from '../graph/index.js';
import type { DecideContext } from '../state/deciding.js';
import { escalationKey } from '../state/escalation-key.js';
import { decideGraphAlone, decideGraphSettled, decideGraphStart } from './decide-graph.js';
import type { WalkContext } from './graph-walk.js';
import type { TurnLimits } from './loop-turn.js';
import { rerunGraph } from './rerun-graph.js';
import { reopenedVisits } from './reopened-visits.js';

/**
 * A version of a graph as all that runs definitions knows them: each node is one of one stage, whose key is the node's id; what its
 * escalations do are stages too, each with a key of its own.
 */
export function graphDefinition(graph: CompiledGraph, version: number, limits: TurnLimits): CompiledDefinition {
  const { id, fingerprint, settings } = graph;
  const nodes = graph.nodes.map(
    ({ id: key, index, type, config, retry, timeoutMs, queue, hasCancelHook, escalations }) =>
      Object.freeze({
        key,
        index,
        parallel: false,
        stages: Object.freeze([
          Object.freeze({ key, stage: type, config, when: null, retry, timeoutMs, queue, hasCancelHook }),
        ]),
        ...(escalations.length > 0 && {
          escalations: Object.freeze(escalations.map((escalation) => escalationStage(key, escalation))),
        }),
      }),
  );
  const { maxOutputBytes, maxLoopIterations } = limits;
  // Named one by one: two spreads cost more here than the rest of a step of the walk.
  const within = ({ nextId, defaultQueue }: DecideContext): WalkContext => ({
    nextId,
    defaultQueue,
    maxOutputBytes,
    maxLoopIterations,
  });
  return Object.freeze({
    id,
    version,
    kind: 'graph',
    fingerprint,
    nodes: Object.freeze(nodes),
    settings,
    ways: Object.freeze({
      start: (run, delayed, context) => decideGraphStart(graph, run, delayed, within(context)),
      settled: (state, ended, escalated, context) =>
        decideGraphSettled(graph, state, ended, escalated, within(context)),
      alone: (run, before, ended, context) => decideGraphAlone(graph, run, before, ended, within(context)),
      reopened: (state, failed, context) => reopenedVisits(graph, state, failed, within(context)),
      rerun: (state, node, context) => rerunGraph(graph, state, node, within(context)),
    } satisfies CompiledDefinition['ways']),
  });
}

function escalationStage(
  node: string,
  { level, type: stage, action, afterMs, retry, timeoutMs, queue, hasCancelHook }: CompiledEscalation,
): CompiledStage {
  const key = escalationKey(node, level);
  return Object.freeze({
    key,
    stage,
    config: action.config,
    when: null,
    retry,
    timeoutMs,
    queue,
    hasCancelHook,
    afterMs,
  });
}
