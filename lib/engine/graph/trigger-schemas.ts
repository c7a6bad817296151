import { z } from 'zod';
import { expression, identifier, mapping, plainText, positiveDuration, subjectReference } from './schema-parts.js';

const trigger = { id: identifier, input: mapping.optional() };
const received = {
  ...trigger,
  key: expression.optional().describe('Gives the idempotency key of the start'),
  subject: subjectReference.optional(),
};

/** What starts a graph by itself, by type. */
export const triggerSchemas = {
  schedule: z.strictObject({
    ...trigger,
    type: z.literal('schedule'),
    cron: z.string().max(200).describe('Five fields: minute, hour, day of month, month, day of week'),
    timeZone: z.string().max(100).optional().describe("An IANA time zone. Default: 'UTC'"),
    catchUp: z
      .enum(['skip', 'once', 'all'])
      .optional()
      .describe("Of instants that nobody was there for. Default: 'once'"),
    overlap: z
      .enum(['allow', 'skip'])
      .optional()
      .describe("Whether a run starts while the one before is still open. Default: 'allow'"),
    jitter: positiveDuration.optional().describe('Each start is put off by up to so long'),
  }),
  webhook: z.strictObject({ ...received, type: z.literal('webhook'), auth: z.enum(['signature', 'token']) }),
  event: z.strictObject({
    ...received,
    type: z.literal('event'),
    on: z.union(
      [plainText(200), z.strictObject({ entity: plainText(200), change: z.enum(['insert', 'update', 'remove']) })],
      { error: 'must be the name of an event, or { entity, change }' },
    ),
    where: expression.optional(),
  }),
};

export type TriggerType = keyof typeof triggerSchemas;

export const graphTrigger = z.discriminatedUnion('type', [
  triggerSchemas.schedule,
  triggerSchemas.webhook,
  triggerSchemas.event,
]);
