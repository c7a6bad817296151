import type { CompiledEscalation } from '../../engine/graph/index.js';
import { actionBody, type NodeValues } from '../nodes/index.js';
import type { AttemptContext } from './attempt-context.js';
import type { Attempt } from './attempt.js';
import type { RunnableStage } from './definition-source.js';
import { starterOf, valuesOf, type AtNode, type NodeAttemptParts } from './node-attempt.js';
import type { ServedNode } from './served-stages.js';
import { inputOf } from './stage-input.js';

/** An attempt at what an escalation of a node is for. */
export class EscalationAttempt implements AtNode {
  readonly #values: NodeValues;

  constructor(
    private readonly served: ServedNode,
    private readonly escalation: CompiledEscalation,
    private readonly attempt: Attempt,
    ctx: AttemptContext,
    private readonly parts: NodeAttemptParts,
  ) {
    this.#values = valuesOf(served, attempt, ctx, parts);
  }

  /** Never: the `when` of the node was asked for the visit. */
  isLeftOut(): Promise<boolean> {
    return Promise.resolve(false);
  }

  /** What the action is given. @throws ExpressionFailedError */
  async input(): Promise<unknown> {
    const { input } = this.escalation;
    if (input) return this.#values.fixedMap('input', input);
    return inputOf(this.attempt.job.run);
  }

  get handler(): RunnableStage | undefined {
    const { attempt, escalation, parts: host } = this;
    const body = actionBody(escalation.type);
    if (!body) return undefined;
    const { graph, node } = this.served;
    const { ownerId: owner } = attempt.job.run;
    const startedBy = starterOf(attempt);
    return {
      execute: (ctx) => body({ graph, node, escalation, ctx, owner, values: this.#values, host, startedBy }),
    };
  }
}
