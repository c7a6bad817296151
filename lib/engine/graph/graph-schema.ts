import { z } from 'zod';
import { inputSchema } from './input-schema.js';
import { graphNode } from './node-schemas.js';
import { identifier, label, positiveDuration, retryPolicy } from './schema-parts.js';
import { graphTrigger } from './trigger-schemas.js';

export const graphEdge = z.strictObject({
  from: z.string(),
  outcome: z.string().optional().describe("Default: 'done'"),
  to: z.string(),
});

export const graphSettings = z.strictObject({
  actor: z.enum(['system', 'on_behalf_of']).optional(),
  retry: retryPolicy.optional(),
  limits: z
    .strictObject({ maxStageRuns: z.int().min(1).optional(), startsPerMinute: z.int().min(1).optional() })
    .optional(),
  deadline: positiveDuration.optional(),
  queue: identifier.optional(),
});

const head = {
  id: identifier,
  name: label.optional(),
  description: z.string().max(5_000).optional(),
  input: inputSchema.optional(),
  start: z.string().optional().describe('The node that a run begins with. Default: the first one'),
  settings: graphSettings.optional(),
};

/**
 * The shape of a graph: a workflow as data. What fits it may still be wrong as a graph: `validateGraph` says.
 *
 * @publicApi
 */
export const GRAPH_SCHEMA = z.strictObject({
  ...head,
  triggers: z.array(graphTrigger).max(50).optional(),
  nodes: z.array(graphNode).min(1),
  edges: z.array(graphEdge),
});

/** A workflow as data. */
export type Graph = z.infer<typeof GRAPH_SCHEMA>;
export type GraphNode = Graph['nodes'][number];
export type GraphEdge = z.infer<typeof graphEdge>;
export type GraphSettings = z.infer<typeof graphSettings>;
export type GraphTrigger = z.infer<typeof graphTrigger>;

/** The same with nodes and triggers left open: they are looked at one by one, by their type. */
export const envelopeSchema = z.strictObject({
  ...head,
  triggers: z.array(z.unknown()).max(50).optional(),
  nodes: z.array(z.unknown()).min(1),
  edges: z.array(graphEdge),
});
