import type { CompiledEscalation } from '../../engine/graph/index.js';
import type { RuntimeStageType } from '../execution/definition-source.js';
import { notifyAction } from './notify-action.js';
import type { NodeWork } from './node-work.js';
import { ownType } from './own-type.js';
import { reassignAction } from './reassign-action.js';

/** What an action of the engine's own is given when its time has come. */
export interface EscalationWork extends NodeWork {
  readonly escalation: CompiledEscalation;
}

/** Does what an escalation is for. Returns what its stage run keeps, or `ctx.outcome(…)`: the edge to go on by. */
export type EscalationBody = (work: EscalationWork) => unknown;

/** `take_edge`: nothing but to say by which outcome; what follows is decided with the record of it, under the run's lock. */
const takeEdgeAction: EscalationBody = ({ ctx, escalation }) => {
  const { outcome } = escalation.action as { readonly outcome: string };
  return ctx.outcome(outcome, { outcome });
};

/** `start_workflow`: another run for the same owner, which nobody waits for: it goes on when the visit ends. */
const startWorkflowAction: EscalationBody = ({ ctx, escalation }) => {
  const { workflow, version } = escalation.action as { readonly workflow: string; readonly version?: number };
  return ctx.step.runWorkflow('run', workflow, ctx.input, {
    ...(version !== undefined && { version }),
    wait: false,
  });
};

/** The actions that the engine knows what to do with, by name. */
const ACTIONS: Readonly<Record<string, EscalationBody>> = {
  notify: notifyAction,
  reassign: reassignAction,
  start_workflow: startWorkflowAction,
  take_edge: takeEdgeAction,
};

const TYPES: ReadonlyMap<string, RuntimeStageType> = new Map(Object.keys(ACTIONS).map((id) => [id, ownType(id, true)]));

/** What the runtime needs to know of an action of the engine's own, as of a `@Stage`. */
export function actionType(type: string): RuntimeStageType | undefined {
  return TYPES.get(type);
}

/** What is to be done for an action of this type; undefined for a stage of the host's. */
export function actionBody(type: string): EscalationBody | undefined {
  return Object.hasOwn(ACTIONS, type) ? ACTIONS[type] : undefined;
}
