import type { DecideContext, EnteredRun } from '../state/deciding.js';
import type { RunState, StageRunState, Transition } from '../state/rows.js';
import type { CompiledRetryPolicy } from '../retry/retry-policy.js';

/**
 * What a pipeline or a graph compiles to: frozen, plain but for `when`, and all that `decide` needs to know.
 *
 * A pipeline's execution group is a node with 1..n stages; its edges form one line.
 */
export interface CompiledDefinition {
  readonly id: string;
  readonly version: number;
  readonly kind: 'pipeline' | 'graph';
  /** Digest of the structure: node keys, stage ids, configs, order. Two builds with equal fingerprints decide alike. */
  readonly fingerprint: string;
  /** In order of execution. Never empty. */
  readonly nodes: readonly CompiledNode[];
  readonly settings: DefinitionSettings;
  /** Of a graph: how its nodes follow each other. A pipeline's follow in their order. */
  readonly ways?: DefinitionWays;
}

/** How a run gets on in a definition whose nodes don't simply follow each other. Plain functions, like all that decides. */
export interface DefinitionWays {
  /** What a new run begins with. */
  start(run: Omit<EnteredRun, 'stageRunCount'>, delayed: boolean, context: DecideContext): Transition;
  /** What follows once these visits of nodes, and these escalations (stage run ids), have ended, all of them at once. */
  settled(
    state: RunState,
    ended: readonly NodeVisited[],
    escalated: readonly string[],
    context: DecideContext,
  ): Transition;
  /**
   * What follows the end of a node where a worker knows it without looking at other rows, by what had ended before it; else null.
   * Then nothing of the run but that node has been open.
   */
  alone(run: EnteredRun, before: VisitsBefore, ended: EndedNode, context: DecideContext): Transition | null;
  /** How a run goes on from the visit that failed; or, in a sentence, why it cannot (RETRY-5). */
  reopened(state: RunState, failed: StageRunState, context: DecideContext): RetryWay | string;
  /** How a run goes on from a node that it has been at; or, in a sentence, why it cannot (RUN-5). */
  rerun(state: RunState, node: string, context: DecideContext): RerunWay | string;
}

/** Where a run has been, as a worker is told of it. */
export interface VisitsBefore {
  /** What completed or was skipped, oldest first. */
  readonly earlier: readonly EndedNode[];
  /** Nodes of which there are other visits, under whatever version of the definition. */
  readonly unlisted: readonly string[];
}

/** A visit that has ended, as a worker knows it. */
export type EndedNode = Pick<StageRunState, 'node' | 'status' | 'output'> & { readonly outcome: string | null };

/** A manual retry: these stage runs are opened again, and what the run goes on with beside them. */
export interface RetryWay {
  readonly reopened: readonly StageRunState[];
  readonly entered: Transition;
}

/** A rerun: these stage runs are kept, and what the run goes on with. */
export interface RerunWay {
  readonly kept: readonly StageRunState[];
  readonly entered: Transition;
}

/** A visit of a node. */
export interface NodeVisited {
  readonly node: string;
  readonly visit: number;
}

export interface DefinitionSettings {
  /** Queue of stages that name none; null = the module's default queue. */
  readonly queue: string | null;
  /** Most stage runs of one run (LIMIT-1). */
  readonly maxStageRuns: number;
  /** Most starts a minute (LIMIT-3); null = as many as there are. */
  readonly startsPerMinute: number | null;
  /** Milliseconds from the start until the run fails RUN_TIMEOUT; null = never. */
  readonly deadlineMs: number | null;
  readonly actor: 'system' | 'on_behalf_of';
}

export interface CompiledNode {
  readonly key: string;
  /** Place in `nodes`, from 0. */
  readonly index: number;
  /** `true`: the output is an object by stage key, even with one branch. */
  readonly parallel: boolean;
  readonly stages: readonly CompiledStage[];
  /** What happens when a visit of it takes long, in the order of its levels; each a stage with a key of its own. Absent: nothing. */
  readonly escalations?: readonly CompiledStage[];
}

export interface CompiledStage {
  /** Unique in the definition; what `ctx.require('key')` and `rerunFrom` name. */
  readonly key: string;
  /** The `@Stage` id: the *type*. */
  readonly stage: string;
  /** As the config schema parsed it, defaults applied once (DEF-5). */
  readonly config: unknown;
  /** Asked when the node is entered; false = SKIPPED. Pure; `input` is what is stored, before the stage's input schema parses it. */
  readonly when: ((context: WhenContext) => boolean) | null;
  readonly retry: CompiledRetryPolicy;
  /** Running time of one attempt in ms (RETRY-6); null = no limit of its own. */
  readonly timeoutMs: number | null;
  readonly queue: string | null;
  /** The class has a `cancel(ctx)` hook: a cancel of a live stage run needs a durable job. */
  readonly hasCancelHook: boolean;
  /** Of an escalation: milliseconds after its visit began. Absent: it is none. */
  readonly afterMs?: number;
}

export interface WhenContext {
  readonly input: unknown;
  readonly run: { readonly id: string; readonly input: unknown };
}

/** Name of a definition's structure as jobs carry it: a process claims only what it serves (GHOST-3). */
export function definitionKey(definition: Pick<CompiledDefinition, 'id' | 'version' | 'fingerprint'>): string {
  return `${definition.id}@${definition.version}#${definition.fingerprint}`;
}
