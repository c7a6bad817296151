import { formatMessage } from '../../errors/index.js';
import { describeFailure } from '../codec/failure-record.js';
import { decodeJson } from '../codec/json.js';
import type {
  CompiledDefinition,
  CompiledNode,
  CompiledStage,
  WhenContext,
} from '../definition/compiled-definition.js';
import type { DecideContext, EnteredRun } from './deciding.js';
import { decodeOutput, nodeOutput } from './node-output.js';
import type {
  EngineEvent,
  JsonText,
  NewJob,
  NewStageRun,
  NodeVisit,
  RunChange,
  RunFailure,
  Transition,
} from './rows.js';

/** How much longer than a stage's own timeout its lease may last: the timeout must be seen first. */
const CAP_MARGIN_MS = 60_000;

export const NO_CHANGE: Transition = Object.freeze({
  run: null,
  stageRuns: [],
  reopened: [],
  requeued: [],
  visits: [],
  events: [],
  cancelOpen: false,
  cancelJobs: [],
});

/**
 * Enters the node at `index`: its stage runs and jobs, or those of the first later node that isn't skipped whole, or the
 * end of the run. `input` is the output of the node before, undefined when that was skipped.
 */
export function enterNode(
  definition: CompiledDefinition,
  run: EnteredRun,
  index: number,
  input: JsonText | undefined,
  context: DecideContext,
): Transition {
  const stageRuns: NewStageRun[] = [];
  const events: EngineEvent[] = [];
  const visits: NodeVisit[] = [];
  let ordinal = run.stageRunCount;

  for (let at = index; at < definition.nodes.length; at += 1) {
    const node = definition.nodes[at]!;
    if (ordinal + node.stages.length > definition.settings.maxStageRuns) {
      return fail(stageRuns, events, stepLimit(definition, node, ordinal + node.stages.length));
    }
    const value = whenInput(node, input);
    for (const stage of node.stages) {
      ordinal += 1;
      const id = context.nextId();
      const wanted = askWhen(stage, {
        input: value,
        run: { id: run.id, input: value === NOT_ASKED ? undefined : decodeJson(run.input) },
      });
      const failure = typeof wanted === 'boolean' ? null : wanted;
      const { key, stage: type } = stage;
      stageRuns.push({
        id,
        node: node.key,
        position: at,
        key,
        stage: type,
        visit: 1,
        ordinal,
        status: failure ? 'FAILED' : wanted ? 'PENDING' : 'SKIPPED',
        skipReason: wanted ? null : 'when',
        failure,
        job: wanted === true ? jobFor(stage, run, definition, context) : null,
      });
      if (failure) return fail(dropPending(stageRuns), events, failure);
      if (!wanted)
        events.push({ type: 'stage:skipped', stageRunId: id, node: key, stage: type, data: { reason: 'when' } });
    }
    const entered = stageRuns.filter((stageRun) => stageRun.position === at);
    const open = entered.filter((stageRun) => stageRun.status === 'PENDING').length;
    if (open > 0) {
      if (node.stages.length > 1) visits.push({ node: node.key, visit: 1, open });
      return { ...NO_CHANGE, stageRuns, visits, events };
    }
    input = nodeOutput(
      node,
      entered.map((stageRun) => ({ ...stageRun, status: 'SKIPPED' as const, output: null })),
    );
  }
  return end(stageRuns, events, { to: 'COMPLETED', output: input ?? 'null' }, { type: 'run:completed' });
}

/** The queue a stage's jobs wait in: stage → run → definition → module default (RUN-6). */
export function queueOf(
  stage: CompiledStage,
  run: { readonly queue: string | null },
  definition: CompiledDefinition,
  context: DecideContext,
): string {
  return stage.queue ?? run.queue ?? definition.settings.queue ?? context.defaultQueue;
}

/** A stage's timeout raises the lease's absolute cap (LEASE-4). */
export function capOf(stage: Pick<CompiledStage, 'timeoutMs'>): number | null {
  return stage.timeoutMs === null ? null : stage.timeoutMs + CAP_MARGIN_MS;
}

/** A fresh job for a stage run that is queued again. */
export function jobFor(
  stage: CompiledStage | undefined,
  run: { readonly queue: string | null },
  definition: CompiledDefinition | undefined,
  context: DecideContext,
): NewJob {
  const queue = stage && definition ? queueOf(stage, run, definition, context) : (run.queue ?? context.defaultQueue);
  return { id: context.nextId(), queue, capMs: stage ? capOf(stage) : null };
}

/** Marks that no stage of the node has a `when`: payloads are then not decoded at all. */
const NOT_ASKED = Symbol('not asked');

function whenInput(node: CompiledNode, input: JsonText | undefined): unknown {
  return node.stages.some((stage) => stage.when) ? decodeOutput(input) : NOT_ASKED;
}

/** Whether the stage runs; or, where `when` throws or answers no boolean, the failure of the run. */
export function askWhen(stage: CompiledStage, context: WhenContext): boolean | RunFailure {
  if (!stage.when) return true;
  try {
    const answer: unknown = stage.when(context);
    if (typeof answer === 'boolean') return answer;
    return conditionFailed(stage, `it answered ${typeof answer}, not true or false`);
  } catch (error) {
    return conditionFailed(stage, describeFailure(error).message);
  }
}

function conditionFailed(stage: CompiledStage, why: string): RunFailure {
  return runFailure('CONDITION_FAILED', { node: stage.key, message: why }, stage.key);
}

function stepLimit(definition: CompiledDefinition, node: CompiledNode, actual: number): RunFailure {
  const where = `Node ${node.key} of ${definition.id}`;
  return runFailure(
    'STEP_LIMIT_EXCEEDED',
    { where, actual, limit: 'maxStageRuns', value: definition.settings.maxStageRuns },
    node.key,
  );
}

/** A failure of the engine's own, with its text from the catalogue (FAIL-4). */
export function runFailure(code: string, params: Record<string, unknown>, node: string | null): RunFailure {
  return { code, message: formatMessage(code, params), params, node };
}

function dropPending(stageRuns: NewStageRun[]): NewStageRun[] {
  return stageRuns.filter((stageRun) => stageRun.status !== 'PENDING');
}

function fail(stageRuns: NewStageRun[], events: EngineEvent[], failure: RunFailure): Transition {
  return end(stageRuns, events, { to: 'FAILED', failure }, failedEvent(failure));
}

export function failedEvent({ code, message, node }: RunFailure): EngineEvent {
  return { type: 'run:failed', data: { code, message, node } };
}

function end(stageRuns: NewStageRun[], events: EngineEvent[], run: RunChange, event: EngineEvent): Transition {
  return { ...NO_CHANGE, run, stageRuns, events: [...events, event] };
}
