import { z } from 'zod';
import { identifier, mapping, people, positiveDuration } from './schema-parts.js';

/** The built-in actions of an escalation; any other type is a stage of the host's. */
export const escalationActions = {
  notify: z.strictObject({
    type: z.literal('notify'),
    to: people,
    message: z.string().max(2_000).optional(),
  }),
  reassign: z.strictObject({ type: z.literal('reassign'), to: people }),
  start_workflow: z.strictObject({
    type: z.literal('start_workflow'),
    workflow: identifier,
    version: z.int().min(1).optional(),
    input: mapping.optional(),
  }),
  take_edge: z.strictObject({ type: z.literal('take_edge'), outcome: identifier }),
};

export type EscalationActionType = keyof typeof escalationActions;

export function isEscalationAction(type: unknown): type is EscalationActionType {
  return typeof type === 'string' && Object.hasOwn(escalationActions, type);
}

/** An action by a stage of the host's. */
export const stageAction = z.strictObject({
  type: identifier,
  config: z.unknown().optional(),
  input: mapping.optional(),
});

export const escalation = z.strictObject({
  after: positiveDuration,
  action: z.union([...Object.values(escalationActions), stageAction]),
});

/** An escalation whose action is looked at by its type. */
export const uncheckedEscalation = z.strictObject({
  after: positiveDuration,
  action: z.looseObject({ type: identifier }),
});
