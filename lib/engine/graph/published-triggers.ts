import { canonicalJson, digest } from '../codec/index.js';
import type { NewTrigger, NextId } from '../ports/index.js';
import type { Graph, GraphTrigger } from './graph-schema.js';

/** Keys of events that changes of entities are told by. No app event begins like this. */
export const ENTITY_KEY_PREFIX = '@entity/';

export type EntityChange = 'insert' | 'update' | 'remove';

export const entityKey = (entity: string, change: EntityChange): string => `${ENTITY_KEY_PREFIX}${entity}/${change}`;

/** The triggers of a graph that was checked, as they are put in force. */
export function triggersOf({ triggers = [] }: Pick<Graph, 'triggers'>, nextId: NextId): NewTrigger[] {
  return triggers.map((trigger) => ({
    id: nextId(),
    triggerId: trigger.id,
    type: trigger.type,
    spec: JSON.stringify(trigger),
    fingerprint: digest([trigger.type, canonicalJson(placeOf(trigger))])
      .toString('hex')
      .slice(0, 16),
    eventKey: trigger.type === 'event' ? eventKeyOf(trigger.on) : null,
  }));
}

/** What a schedule's place in time depends on: its other fields may change without anything being due anew. */
const placeOf = (trigger: GraphTrigger): unknown =>
  trigger.type === 'schedule' ? [trigger.cron.trim().split(/\s+/), trigger.timeZone ?? 'UTC'] : [];

const eventKeyOf = (on: Extract<GraphTrigger, { type: 'event' }>['on']): string =>
  typeof on === 'string' ? on : entityKey(on.entity, on.change);
