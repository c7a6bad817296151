import { z } from 'zod';
import { GRAPH_SCHEMA } from './graph-schema.js';

/**
 * `GRAPH_SCHEMA` as JSON Schema (2020-12), for editors and for whoever writes graphs in another language.
 *
 * @publicApi
 */
export const GRAPH_JSON_SCHEMA: Readonly<Record<string, unknown>> = Object.freeze(
  z.toJSONSchema(GRAPH_SCHEMA, { io: 'input', reused: 'ref' }) as Record<string, unknown>,
);
