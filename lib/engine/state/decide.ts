import type { CompiledDefinition, CompiledStage, RetryWay } from '../definition/compiled-definition.js';
import type { SettleEvent } from '../ports/work-store.js';
import type { DecideContext, EnteredRun } from './deciding.js';
import { askWhen, enterNode, failedEvent, jobFor, NO_CHANGE, runFailure } from './enter-node.js';
import { escalationEvents } from './escalation-events.js';
import { isEscalation } from './escalation-key.js';
import { decodeOutput, nodeOutput } from './node-output.js';
import { decodeJson } from '../codec/json.js';
import type { EngineEvent, JsonText, RunFailure, RunState, StageRunState, Transition } from './rows.js';
import { isTerminalStageRun, type RunStatus } from './statuses.js';
import { nextRunStatus } from './transition-tables.js';

/** A definition, or undefined where this build does not serve the run's: ending a run needs none. */
type MaybeDefinition = CompiledDefinition | undefined;

/** What a new run begins with. A delayed run tells `run:started` when it becomes due. */
export function decideStart(
  definition: CompiledDefinition,
  run: Omit<EnteredRun, 'stageRunCount'>,
  delayed: boolean,
  context: DecideContext,
): Transition {
  if (definition.ways) return definition.ways.start(run, delayed, context);
  const first = enterNode(definition, { ...run, stageRunCount: 0 }, 0, run.input, context);
  if (delayed && first.run === null) return first;
  return { ...first, events: [{ type: 'run:started' }, ...first.events] };
}

/** A run that a limit refused: it exists, so that people find it, and has ended before anything of it began (LIMIT-3). */
export function decideRefusedStart(failure: RunFailure): Transition {
  return { ...NO_CHANGE, run: { to: 'FAILED', failure }, events: [failedEvent(failure)] };
}

/** What follows the end of a node with a single stage: known without looking at other rows. `output` undefined = skipped. */
export function decideNext(
  definition: CompiledDefinition,
  run: EnteredRun,
  nodeKey: string,
  output: JsonText | undefined,
  context: DecideContext,
): Transition {
  return enterNode(definition, run, indexOf(definition, nodeKey) + 1, output, context);
}

/**
 * What follows from rows that were stored under the run's lock: the last branch of a group, ends of nodes of a graph, of escalations,
 * or a terminal failure. A failure decides alone: a run that fails advances no more, not by another edge either. An escalation's own
 * failure is told, and nothing follows from it (ESC-2).
 */
export function decideSettled(
  definition: MaybeDefinition,
  state: RunState,
  events: readonly SettleEvent[],
  context: DecideContext,
): Transition {
  const transition = followEnds(definition, state, events, context);
  const told = escalationEvents(state, events, transition);
  return told.length > 0 ? { ...transition, events: [...told, ...transition.events] } : transition;
}

function followEnds(
  definition: MaybeDefinition,
  state: RunState,
  events: readonly SettleEvent[],
  context: DecideContext,
): Transition {
  const failed = events.find((event) => event.type === 'stage-failed');
  if (failed?.type === 'stage-failed') {
    const { code, message, params } = failed.failure;
    return decideFailure(definition, state, { code, message, params: params ?? null, node: failed.key }, context);
  }
  const settled = events.filter((event) => event.type === 'node-settled');
  const escalated = events.flatMap((event) =>
    event.type === 'escalation-ended' && event.failure === null ? [event.stageRunId] : [],
  );
  if (settled.length === 0 && escalated.length === 0) return NO_CHANGE;
  if (!definition)
    throw new Error(`A node of run ${state.id} settled in a process that does not serve its definition.`);
  if (definition.ways) {
    const transition = definition.ways.settled(state, settled, escalated, context);
    return { ...transition, cancelJobs: hooksOf(definition, state, transition, context) };
  }
  // Of a pipeline one node is open at a time.
  const [event] = settled;
  if (!event) return NO_CHANGE;
  const index = indexOf(definition, event.node);
  const node = definition.nodes[index]!;
  const branches = state.stageRuns.filter((stageRun) => stageRun.node === event.node && stageRun.visit === event.visit);
  return enterNode(definition, state, index + 1, nodeOutput(node, branches), context);
}

/** Hooks of what a walk leaves behind: all that is open when it fails, else what is cancelled alone (CANCEL-3). */
function hooksOf(
  definition: CompiledDefinition,
  state: RunState,
  { cancelOpen, cancelled = [] }: Transition,
  context: DecideContext,
): Transition['cancelJobs'] {
  const left = state.stageRuns.filter((stageRun) => cancelOpen || cancelled.includes(stageRun.id));
  return cancelJobsOf(definition, state, left, context);
}

/** Ends a run FAILED; whatever is open is cancelled with it (FAIL-1, GRP-3). */
export function decideFailure(
  definition: MaybeDefinition,
  state: RunState,
  failure: RunFailure,
  context: DecideContext,
): Transition {
  return endOpen(definition, state, { to: 'FAILED', failure }, failedEvent(failure), true, context);
}

/** Ends a run CANCELLED, or undefined where its status has no such arrow (CANCEL-1). `hooks: false` is `terminate` (CANCEL-4). */
export function decideCancel(
  definition: MaybeDefinition,
  state: RunState,
  reason: string | null,
  hooks: boolean,
  context: DecideContext,
): Transition | undefined {
  if (!nextRunStatus(state.status, 'cancel')) return undefined;
  return endOpen(
    definition,
    state,
    { to: 'CANCELLED', reason, terminated: !hooks },
    { type: 'run:cancelled', data: { reason } },
    hooks,
    context,
  );
}

/** A run past its deadline (CANCEL-4), or undefined when it has ended meanwhile. */
export function decideTimeout(
  definition: MaybeDefinition,
  state: RunState,
  context: DecideContext,
): Transition | undefined {
  if (!nextRunStatus(state.status, 'fail')) return undefined;
  return decideFailure(definition, state, runFailure('RUN_TIMEOUT', { runId: state.id }, null), context);
}

export type RetryDecision = { readonly transition: Transition } | { readonly refused: string };

/**
 * A manual retry: the failed stage and the branches cancelled with it are opened again, completed ones kept (RETRY-5).
 * Refused, with a sentence that says why, where the run did not fail on a stage.
 */
export function decideRetry(
  definition: MaybeDefinition,
  state: RunState,
  failedStage: string | null,
  context: DecideContext,
): RetryDecision {
  if (!nextRunStatus(state.status, 'retry')) return { refused: refusal(state.status) };
  const failed = state.stageRuns.find(
    (stageRun) =>
      stageRun.status === 'FAILED' && !isEscalation(stageRun) && (failedStage === null || stageRun.key === failedStage),
  );
  if (!failed) return { refused: 'It did not fail on a stage. Start it again.' };
  if (!definition)
    return { refused: 'This build does not serve its definition. Retry it where the definition is served.' };
  if (definition.ways) {
    const way = definition.ways.reopened(state, failed, context);
    return typeof way === 'string' ? { refused: way } : reopen(definition, state, failed, way, context);
  }
  const group = state.stageRuns.filter((stageRun) => stageRun.node === failed.node && stageRun.visit === failed.visit);
  const node = definition.nodes.find(({ key }) => key === failed.node);
  // A condition failed while the group was entered: the other branches were never written, so nothing could open them again.
  if (node && group.length < node.stages.length)
    return {
      refused: `${failed.key} failed before the other branches of ${node.key} began. Rerun it from ${node.key}.`,
    };
  const reopened = group.filter((stageRun) => stageRun.status === 'FAILED' || stageRun.status === 'CANCELLED');
  for (const stageRun of reopened) {
    const refused = conditionRefusal(definition, state, stageRun);
    if (refused) return { refused };
  }
  const visits = group.length > 1 ? [{ node: failed.node, visit: failed.visit, open: reopened.length }] : [];
  return reopen(definition, state, failed, { reopened, entered: { ...NO_CHANGE, visits } }, context);
}

function reopen(
  definition: CompiledDefinition,
  state: RunState,
  failed: StageRunState,
  { reopened, entered }: RetryWay,
  context: DecideContext,
): RetryDecision {
  const jobs = reopened.map(({ id, key }) => {
    const stage = findStage(definition, key);
    const job = jobFor(stage, state, definition, context);
    return { id, job: stage?.afterMs === undefined ? job : { ...job, delayMs: stage.afterMs } };
  });
  const events: EngineEvent[] = [{ type: 'run:retried', data: { node: failed.key } }, ...entered.events];
  return { transition: { ...entered, run: entered.run ?? { to: 'RUNNING' }, reopened: jobs, events } };
}

/** How often a lost job is put back before its run counts as stuck. */
const REQUEUES = 1;

/**
 * A RUNNING run that has no job and did not move for long: open stages whose job was merely lost are queued again, once;
 * after that, or with nothing open, it fails STUCK_RUN_REAPED (STUCK-1). Escalations wait for their time, and move nothing by that.
 */
export function decideStuck(
  definition: MaybeDefinition,
  state: RunState,
  stuckAfter: string,
  context: DecideContext,
): { transition: Transition; requeued: number } {
  const open = state.stageRuns.filter((stageRun) => !isTerminalStageRun(stageRun.status) && !isEscalation(stageRun));
  if (open.length > 0 && open.every((stageRun) => stageRun.requeues < REQUEUES)) {
    const requeued = open.map(({ id, key }) => ({
      id,
      job: jobFor(definition && findStage(definition, key), state, definition, context),
    }));
    return { transition: { ...NO_CHANGE, requeued }, requeued: requeued.length };
  }
  const stages = state.stageRuns.map(({ key, status }) => `${key} ${status}`).join(', ') || 'none';
  const failure = runFailure('STUCK_RUN_REAPED', { runId: state.id, stuckAfter, stages }, null);
  return { transition: decideFailure(definition, state, failure, context), requeued: 0 };
}

/** A stage of the definition, or what an escalation of one of its nodes does. */
export function findStage(definition: CompiledDefinition, key: string): CompiledStage | undefined {
  for (const { stages, escalations = [] } of definition.nodes) {
    for (const stage of stages) if (stage.key === key) return stage;
    for (const stage of escalations) if (stage.key === key) return stage;
  }
  return undefined;
}

function indexOf(definition: CompiledDefinition, nodeKey: string): number {
  const index = definition.nodes.findIndex((node) => node.key === nodeKey);
  if (index < 0) throw new Error(`Definition ${definition.id} version ${definition.version} has no node ${nodeKey}.`);
  return index;
}

function endOpen(
  definition: MaybeDefinition,
  state: RunState,
  run: Transition['run'],
  event: EngineEvent,
  hooks: boolean,
  context: DecideContext,
): Transition {
  return {
    ...NO_CHANGE,
    run,
    events: [event],
    cancelOpen: true,
    cancelJobs: hooks ? cancelJobsOf(definition, state, state.stageRuns, context) : [],
  };
}

function cancelJobsOf(
  definition: MaybeDefinition,
  state: RunState,
  stageRuns: readonly StageRunState[],
  context: DecideContext,
): Transition['cancelJobs'] {
  return stageRuns
    .filter((stageRun) => wantsHook(definition, stageRun))
    .map(({ id, key }) => ({
      stageRunId: id,
      job: jobFor(definition && findStage(definition, key), state, definition, context),
    }));
}

/** Only a stage run that has begun has anything to undo. Where the definition is unknown, the claim of a build that serves it decides. */
function wantsHook(definition: MaybeDefinition, { key, status, attempt }: StageRunState): boolean {
  if (isTerminalStageRun(status) || attempt === 0) return false;
  return definition ? findStage(definition, key)?.hasCancelHook === true : true;
}

/** A stage that failed before it began, by its `when`, is only opened again when the condition holds now. */
function conditionRefusal(
  definition: CompiledDefinition,
  state: RunState,
  stageRun: StageRunState,
): string | undefined {
  const stage = findStage(definition, stageRun.key);
  if (!stage?.when || stageRun.attempt > 0) return undefined;
  const index = indexOf(definition, stageRun.node);
  const before = index === 0 ? undefined : definition.nodes[index - 1]!;
  const input = before ? decodeOutput(nodeOutput(before, state.stageRuns)) : decodeJson(state.input);
  const answer = askWhen(stage, { input, run: { id: state.id, input: decodeJson(state.input) } });
  if (answer === true) return undefined;
  return answer === false ? `The \`when\` of ${stage.key} now says no. Start it again.` : answer.message;
}

function refusal(status: RunStatus): string {
  if (status === 'COMPLETED') return 'It has completed. Start it again, or rerun it from a node.';
  if (status === 'CANCELLED') return 'It was cancelled. Start it again, or rerun it from a node.';
  return 'It has not ended yet.';
}
