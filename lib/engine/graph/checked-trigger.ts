import { foldIdentifier } from '../definition/index.js';
import type { CompiledTrigger } from './compiled-graph.js';
import { cronMisfit } from './cron-text.js';
import type { GraphCheck } from './graph-check.js';
import type { GraphPath } from './graph-problem.js';
import type { GraphTrigger } from './graph-schema.js';
import { parseWith } from './schema-issues.js';
import { isTimeZone } from './time-zone.js';
import { type TriggerType, triggerSchemas } from './trigger-schemas.js';

const TYPES = Object.keys(triggerSchemas) as TriggerType[];

/** What the graph says of itself that its triggers must agree with. */
export interface TriggeredGraph {
  readonly id: unknown;
  readonly onBehalf: boolean;
}

/** Checks the triggers of a graph. */
export function checkTriggers(given: readonly unknown[], graph: TriggeredGraph, check: GraphCheck): CompiledTrigger[] {
  const ids = new Map<string, string>();
  return given.flatMap((one, at) => {
    const path = ['triggers', at];
    const trigger = readTrigger(one, path, check);
    if (trigger === undefined) return [];
    const { id, type } = trigger;
    const first = ids.get(foldIdentifier(id));
    if (first === undefined) ids.set(foldIdentifier(id), `trigger ${id}`);
    else check.problems.add('DUPLICATE_ID', [...path, 'id'], { what: 'trigger', id, first });
    if (graph.onBehalf && type !== 'event')
      check.problems.add('ACTOR_REQUIRES_USER', [...path, 'type'], { workflow: String(graph.id), trigger: type });
    return [compileTrigger(trigger, path, check)];
  });
}

function readTrigger(given: unknown, path: GraphPath, { problems }: GraphCheck): GraphTrigger | undefined {
  const type = typeof given === 'object' && given !== null ? (given as Record<string, unknown>).type : undefined;
  const known = TYPES.find((name) => name === type);
  if (known !== undefined) return parseWith(triggerSchemas[known], given, { path }, problems);
  problems.add('INVALID_SHAPE', [...path, 'type'], { message: `A trigger has the type ${TYPES.join(', ')}` });
  return undefined;
}

function compileTrigger(trigger: GraphTrigger, path: GraphPath, check: GraphCheck): CompiledTrigger {
  const { id, type } = trigger;
  if (type === 'schedule') {
    checkSchedule(trigger, path, check);
    const input = check.mapping(trigger.input, 'schedule', [...path, 'input'], null);
    return { id, type, trigger, input, where: null, key: null, subjectId: null };
  }
  const where = type === 'event' ? trigger.where : undefined;
  return {
    id,
    type,
    trigger,
    input: check.mapping(trigger.input, 'received', [...path, 'input'], null),
    where: check.optional(where, 'bool', 'event', [...path, 'where'], null),
    key: check.optional(trigger.key, 'text', 'received', [...path, 'key'], null),
    subjectId: check.optional(trigger.subject?.id, 'text', 'received', [...path, 'subject', 'id'], null),
  };
}

function checkSchedule(
  { cron, timeZone }: Extract<GraphTrigger, { type: 'schedule' }>,
  path: GraphPath,
  { problems }: GraphCheck,
): void {
  const reason = cronMisfit(cron);
  if (reason !== null)
    problems.add('INVALID_SCHEDULE', [...path, 'cron'], { what: 'The cron text', value: `"${cron}"`, reason });
  if (timeZone === undefined || isTimeZone(timeZone)) return;
  const params = { what: 'The time zone', value: `"${timeZone}"`, reason: 'write a name such as Europe/Rome or UTC' };
  problems.add('INVALID_SCHEDULE', [...path, 'timeZone'], params);
}
