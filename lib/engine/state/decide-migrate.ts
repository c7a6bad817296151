import type { CompiledDefinition, CompiledNode } from '../definition/compiled-definition.js';
import { findStage } from './decide.js';
import { NO_CHANGE } from './enter-node.js';
import { isEscalation } from './escalation-key.js';
import type { RunState, StageRunState, Transition } from './rows.js';
import { isTerminalStageRun } from './statuses.js';

export type MigrateDecision = { readonly transition: Transition } | { readonly refused: string };

/**
 * A run goes over to another version of its definition (VER-1): what it has done stays, what it does next follows the target.
 *
 * Refused, with all that stands against it, where the run has ended for good or where the target does not have the nodes
 * that the run has been at: same keys, same stages, in the same order. Nor while a stage runs: its outcome leads on by the
 * version that its body began with.
 */
export function decideMigrate(target: CompiledDefinition, definitionKey: string, state: RunState): MigrateDecision {
  if (state.status === 'COMPLETED' || state.status === 'CANCELLED')
    return { refused: 'It has ended. Start a new run, which takes the highest version served.' };
  const running = state.stageRuns.filter(({ status }) => status === 'RUNNING').map(({ key }) => key);
  if (running.length > 0) {
    const why = running.length === 1 ? `Stage ${running[0]} is running` : `Stages ${running.join(', ')} are running`;
    return { refused: `${why} right now. Try again when nothing of it runs: while it waits, or after a failure.` };
  }
  const visits = state.stageRuns.filter((stageRun) => !isEscalation(stageRun));
  const open = visits.filter(({ status }) => !isTerminalStageRun(status));
  if (target.ways && open.length > 1) {
    const at = open.map(({ key }) => key).join(', ');
    return {
      refused: `It is at several nodes at once (${at}), which another graph may not join. Try again when it is at one.`,
    };
  }
  // The nodes of a graph come in no order of their own: what follows is where the target's edges lead from.
  const order = target.ways ? [] : misplaced(target, visits);
  const problems = [...missing(target, visits), ...order, ...otherEscalations(target, state.stageRuns)];
  if (problems.length > 0) return { refused: problems.join(' ') };
  return { transition: { ...NO_CHANGE, migrate: { version: target.version, definitionKey } } };
}

function missing(target: CompiledDefinition, stageRuns: readonly StageRunState[]): string[] {
  const problems: string[] = [];
  for (const [key, members] of byNode(stageRuns)) {
    const node = target.nodes.find((candidate) => candidate.key === key);
    if (!node) problems.push(`It has no node ${key}, which the run has been at.`);
    else if (!sameStages(node, distinct(members)))
      problems.push(`Its node ${key} holds ${shown(node.stages)}; the run has been at ${shown(members)} there.`);
  }
  return problems;
}

/** What is to happen when the present visit takes long is done as the target says; those that it has more are for later visits. */
function otherEscalations(target: CompiledDefinition, stageRuns: readonly StageRunState[]): string[] {
  return stageRuns
    .filter((stageRun) => isEscalation(stageRun) && !isTerminalStageRun(stageRun.status))
    .filter(({ key, stage }) => findStage(target, key)?.stage !== stage)
    .map(({ key, node, stage }) => `Its node ${node} has no escalation ${key} (${stage}), which waits for its time.`);
}

/** Nodes that the run has been at must come first, in its order: what lies after them it enters, what lies between it never does. */
function misplaced(target: CompiledDefinition, stageRuns: readonly StageRunState[]): string[] {
  const places = [...byNode(stageRuns).keys()].map((key) => target.nodes.findIndex((node) => node.key === key));
  const known = places.filter((place) => place >= 0);
  return known.some((place, at) => at > 0 && place < known[at - 1]!)
    ? ['It has the nodes that the run has been at in another order.']
    : [];
}

/** In the order in which the run entered them. */
function byNode(stageRuns: readonly StageRunState[]): Map<string, StageRunState[]> {
  const nodes = new Map<string, StageRunState[]>();
  for (const stageRun of stageRuns) nodes.set(stageRun.node, [...(nodes.get(stageRun.node) ?? []), stageRun]);
  return nodes;
}

/** A node of a graph may have been visited more than once. */
function distinct(members: readonly Named[]): readonly Named[] {
  return members.filter(({ key }, at) => members.findIndex((other) => other.key === key) === at);
}

type Named = { readonly key: string; readonly stage: string };

function sameStages(node: CompiledNode, members: readonly Named[]): boolean {
  return (
    node.stages.length === members.length &&
    members.every(({ key, stage }) => node.stages.some((one) => one.key === key && one.stage === stage))
  );
}

const shown = (stages: readonly Named[]): string =>
  stages.map(({ key, stage }) => (key === stage ? key : `${key} (${stage})`)).join(', ');
