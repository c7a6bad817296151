import { decodeJson } from '../../engine/codec/index.js';
import { DONE } from '../../engine/graph/index.js';
import { GraphVisits, isWhenAsked, isWhenInline } from '../../engine/walk/index.js';
import { closestName, UnknownOutcomeError } from '../../errors/index.js';
import type { SubjectName } from '../../engine/ports/index.js';
import { builtInNode, NodeValues, type NodeHost } from '../nodes/index.js';
import type { AttemptContext } from './attempt-context.js';
import type { Attempt } from './attempt.js';
import type { RunnableStage } from './definition-source.js';
import type { ServedNode } from './served-stages.js';
import { inputOf } from './stage-input.js';

export interface NodeAttemptParts extends NodeHost {
  /** What expressions may read of a subject that was loaded. */
  readonly readable: (name: SubjectName, subject: object) => unknown;
}

/** Who started the run; null = nobody that is known. */
export function starterOf({ job }: Attempt): unknown {
  const { actor } = job.run;
  return actor === null ? null : decodeJson(actor, 'The actor of a run');
}

/** What a graph says beyond the stage itself. */
export interface AtNode {
  isLeftOut(): Promise<boolean>;
  input(): Promise<unknown>;
  /** What does the work where that is the engine's own; undefined for a stage of the host's. */
  readonly handler: RunnableStage | undefined;
}

/** An attempt at a node of a graph. */
export class NodeAttempt implements AtNode {
  readonly #values: NodeValues;

  constructor(
    private readonly served: ServedNode,
    private readonly attempt: Attempt,
    ctx: AttemptContext,
    private readonly parts: NodeAttemptParts,
  ) {
    this.#values = valuesOf(served, attempt, ctx, parts);
  }

  /** Whether its `when` says no, where the run could not ask it in passing. @throws ExpressionFailedError */
  async isLeftOut(): Promise<boolean> {
    const { graph, node } = this.served;
    if (node.when === null || isWhenInline(node) || !isWhenAsked(graph, node, this.#values.visits)) return false;
    return (await this.#values.fixed('when', node.when)) !== true;
  }

  /** What the node is given. @throws ExpressionFailedError */
  async input(): Promise<unknown> {
    const { node } = this.served;
    if (node.input) return this.#values.fixedMap('input', node.input);
    return node.builtIn && node.type !== 'start_workflow' ? null : inputOf(this.attempt.job.run);
  }

  /** What does the node's work where that is the engine's own; undefined for a stage of the host's. */
  get handler(): RunnableStage | undefined {
    const { graph, node } = this.served;
    const builtIn = node.builtIn ? builtInNode(node.type) : undefined;
    if (!builtIn) return undefined;
    const { parts: host } = this;
    const { ownerId: owner } = this.attempt.job.run;
    const startedBy = starterOf(this.attempt);
    return {
      execute: (ctx) => builtIn.execute({ graph, node, ctx, owner, values: this.#values, host, startedBy }),
    };
  }
}

/** What expressions of the graph are evaluated on, at one of its nodes or for one of its escalations. */
export function valuesOf(
  { graph }: ServedNode,
  { job }: Attempt,
  ctx: AttemptContext,
  { now, readable }: NodeAttemptParts,
): NodeValues {
  const { subject } = job.run;
  const read = async (): Promise<unknown> =>
    subject === null ? null : readable(subject, (await ctx.subject()) as object);
  const visits = GraphVisits.ofEnded(graph, job.earlier);
  return new NodeValues({ node: job.stageRun.key, ctx, visits, subject: read, now });
}

/**
 * How a stage ended, by name: null = as it usually does.
 *
 * @throws UnknownOutcomeError where its type has no such outcome, or the graph no edge for it
 */
export function outcomeOf({ served }: Attempt, name: string | null): string | null {
  const { ofGraph, type, stage } = served;
  // One escalation has but one way to go, which its action says; how a stage that it calls ended leads nowhere.
  if (ofGraph?.escalation) return ofGraph.escalation.type === 'take_edge' ? name : null;
  if (ofGraph?.node.builtIn || (!ofGraph && name === null)) return name;
  const declared = type.outcomes ?? [DONE];
  const known = ofGraph ? declared.filter((one) => ofGraph.node.edges.has(one)) : declared;
  const outcome = name ?? DONE;
  if (known.includes(outcome)) return name;
  const told = { outcome, outcomes: known.join(', '), suggestion: closestName(outcome, known) };
  throw new UnknownOutcomeError({ node: stage.key, type: type.id, ...told });
}
