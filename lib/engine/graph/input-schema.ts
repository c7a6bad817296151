import { z } from 'zod';
import type { InputShape } from '../expression/index.js';
import { fieldTypeOf } from './field-type.js';

const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'] as const;

/**
 * What a run's input must look like: JSON Schema, those parts of it that take bounded time to check and mean the same to
 * everybody. No `$ref`, no `pattern`.
 */
export interface GraphInputPart {
  type?: (typeof TYPES)[number] | (typeof TYPES)[number][] | undefined;
  properties?: Record<string, GraphInputPart> | undefined;
  required?: string[] | undefined;
  additionalProperties?: boolean | undefined;
  items?: GraphInputPart | undefined;
  enum?: unknown[] | undefined;
  const?: unknown;
  default?: unknown;
  title?: string | undefined;
  description?: string | undefined;
  format?: string | undefined;
  minimum?: number | undefined;
  maximum?: number | undefined;
  minLength?: number | undefined;
  maxLength?: number | undefined;
  minItems?: number | undefined;
  maxItems?: number | undefined;
}

const count = z.int().min(0).optional();

const keywords = {
  properties: z
    .record(
      z.string(),
      z.lazy(() => part),
    )
    .optional(),
  required: z.array(z.string()).optional(),
  additionalProperties: z.boolean().optional(),
  items: z.lazy(() => part).optional(),
  enum: z.array(z.unknown()).min(1).optional(),
  const: z.unknown().optional(),
  default: z.unknown().optional(),
  title: z.string().optional(),
  description: z.string().optional(),
  format: z.enum(['date', 'date-time', 'time', 'duration', 'email', 'uri', 'uuid']).optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  minLength: count,
  maxLength: count,
  minItems: count,
  maxItems: count,
};

const part: z.ZodType<GraphInputPart> = z.strictObject({
  type: z
    .union([z.enum(TYPES), z.array(z.enum(TYPES)).min(1)], { error: `must be one of ${TYPES.join(', ')}, or a list` })
    .optional(),
  ...keywords,
});

/** The input of a graph is an object, so that it can grow without breaking what starts it. */
export const inputSchema = z.strictObject({ type: z.literal('object'), ...keywords });

export type GraphInputSchema = z.infer<typeof inputSchema>;

/**
 * The types that expressions on `input` are checked against; undefined where the schema names no fields. Fields that it does
 * not name are unknown to expressions, unless it says `additionalProperties: true`.
 */
export function inputShapeOf(schema: GraphInputSchema): InputShape | undefined {
  const shape = fieldTypeOf(schema);
  return typeof shape === 'string' ? undefined : (shape as InputShape);
}
