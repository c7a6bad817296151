import { foldIdentifier } from '../definition/index.js';
import { CronText } from '../schedule/index.js';
import { parseDurationMs } from '../time/index.js';
import type { CompiledTrigger } from './compiled-graph.js';
import { GraphCheck } from './graph-check.js';
import { GraphExpressions } from './graph-expressions.js';
import { DEFAULT_GRAPH_LIMITS } from './graph-limits.js';
import { type GraphPath, GraphProblems } from './graph-problem.js';
import type { GraphTrigger } from './graph-schema.js';
import { ENTITY_KEY_PREFIX } from './published-triggers.js';
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
    if (check.catalogue.lacksOwner && type !== 'event')
      check.problems.add('TRIGGER_REQUIRES_OWNER', [...path, 'type'], { workflow: String(graph.id), trigger: type });
    return [compile(trigger, path, check)];
  });
}

function readTrigger(given: unknown, path: GraphPath, { problems }: GraphCheck): GraphTrigger | undefined {
  const type = typeof given === 'object' && given !== null ? (given as Record<string, unknown>).type : undefined;
  const known = TYPES.find((name) => name === type);
  if (known !== undefined) return parseWith(triggerSchemas[known], given, { path }, problems);
  problems.add('INVALID_SHAPE', [...path, 'type'], { message: `A trigger has the type ${TYPES.join(', ')}` });
  return undefined;
}

/**
 * A trigger that was checked when it was published, compiled again from how it is stored.
 *
 * @throws Error with the first thing that is wrong with it: it was checked by another build
 */
export function compileTrigger(spec: unknown): CompiledTrigger {
  const problems = new GraphProblems();
  const catalogue = { types: {}, published: true };
  const expressions = new GraphExpressions(catalogue, DEFAULT_GRAPH_LIMITS, {}, problems);
  const check = new GraphCheck(catalogue, DEFAULT_GRAPH_LIMITS, expressions, problems, undefined);
  const [trigger] = checkTriggers([spec], { id: null, onBehalf: false }, check);
  const [problem] = problems.list({ triggers: [spec] });
  if (trigger !== undefined && problem === undefined) return trigger;
  throw new Error(problem === undefined ? 'It is no trigger.' : `${problem.path}: ${problem.message}`);
}

const ENTITY_KEY = `No event of an app begins with "${ENTITY_KEY_PREFIX}". For changes of an entity write { "entity": "expense", "change": "update" }`;

function compile(trigger: GraphTrigger, path: GraphPath, check: GraphCheck): CompiledTrigger {
  const { id, type } = trigger;
  if (type === 'schedule') {
    checkSchedule(trigger, path, check);
    const input = check.mapping(trigger.input, 'schedule', [...path, 'input'], null);
    return { id, type, trigger, input, where: null, key: null, subjectId: null };
  }
  const where = type === 'event' ? trigger.where : undefined;
  if (type === 'event') checkEvent(trigger.on, [...path, 'on'], check);
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

function checkEvent(on: Extract<GraphTrigger, { type: 'event' }>['on'], path: GraphPath, check: GraphCheck): void {
  if (typeof on !== 'string') check.entity(on.entity, [...path, 'entity']);
  else if (on.startsWith(ENTITY_KEY_PREFIX)) check.problems.add('INVALID_SHAPE', path, { message: ENTITY_KEY });
}

/** Longer than a day it is no jitter: whoever means another hour says so. */
const MAX_JITTER_MS = 86_400_000;

function checkSchedule(
  { cron, timeZone, jitter }: Extract<GraphTrigger, { type: 'schedule' }>,
  path: GraphPath,
  { problems }: GraphCheck,
): void {
  const refuse = (field: string, what: string, value: string, reason: string): void =>
    problems.add('INVALID_SCHEDULE', [...path, field], { what, value: `"${value}"`, reason });
  const read = CronText.read(cron);
  if (typeof read === 'string') refuse('cron', 'The cron text', cron, read);
  if (timeZone !== undefined && !isTimeZone(timeZone))
    refuse('timeZone', 'The time zone', timeZone, 'write a name such as Europe/Rome or UTC');
  if (jitter !== undefined && parseDurationMs(jitter, 'jitter') > MAX_JITTER_MS)
    refuse('jitter', 'The jitter', jitter, 'it is at most a day');
}
