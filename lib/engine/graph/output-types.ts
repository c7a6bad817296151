import { z } from 'zod';
import type { ParsableSchema } from '../definition/index.js';
import type { FieldType, InputShape } from '../expression/index.js';
import { builtInOutput } from './built-in-outputs.js';
import { fieldTypeOf } from './field-type.js';
import type { GraphCatalogue } from './graph-catalogue.js';
import type { GraphInputPart } from './input-schema.js';
import { isBuiltInType } from './node-schemas.js';

/** What the outputs of a graph's nodes look like, by node, where their type or the schema of a stage says so. */
export function outputTypesOf(
  nodes: readonly unknown[],
  { types }: GraphCatalogue,
  input: InputShape | undefined,
): ReadonlyMap<string, FieldType> {
  const known = new Map<string, FieldType>();
  for (const node of nodes) {
    const { id, type, config } = (node ?? {}) as Readonly<Record<'id' | 'type' | 'config', unknown>>;
    if (typeof id !== 'string' || typeof type !== 'string') continue;
    const schema = Object.hasOwn(types, type) ? types[type]!.outputSchema : undefined;
    const found = isBuiltInType(type) ? builtInOutput(type, config, input) : schema ? typeOfSchema(schema) : 'dyn';
    if (found !== 'dyn') known.set(id, found);
  }
  return known;
}

const bySchema = new WeakMap<ParsableSchema, FieldType>();

function typeOfSchema(schema: ParsableSchema): FieldType {
  const known = bySchema.get(schema);
  if (known !== undefined) return known;
  const found = readSchema(schema);
  bySchema.set(schema, found);
  return found;
}

/** What the schema gives once it has parsed; anything where it is none of zod's, or of a zod that ours cannot read. */
function readSchema(schema: ParsableSchema): FieldType {
  if (!('_zod' in schema)) return 'dyn';
  try {
    const read = z.toJSONSchema(schema as unknown as z.ZodType, { io: 'output', unrepresentable: 'any' });
    return fieldTypeOf(plainPart(read));
  } catch {
    return 'dyn';
  }
}

const OPEN: GraphInputPart = {};

/** Of JSON Schema what the `input` of a graph may have too; a part that says more, as unions do, may be anything. */
function plainPart(schema: unknown): GraphInputPart {
  if (typeof schema !== 'object' || schema === null) return OPEN;
  const part = schema as Readonly<Record<string, unknown>>;
  if (['$ref', 'anyOf', 'oneOf', 'allOf', 'not'].some((keyword) => keyword in part)) return OPEN;
  const { type, enum: values, const: only, properties, additionalProperties, items, prefixItems } = part;
  return {
    ...(type === undefined ? {} : { type: type as NonNullable<GraphInputPart['type']> }),
    ...(Array.isArray(values) ? { enum: values } : {}),
    ...('const' in part ? { const: only } : {}),
    ...(properties === undefined ? {} : { properties: plainParts(properties) }),
    // The schema of what else there may be: fields that are not named.
    additionalProperties: additionalProperties !== false,
    // The items of a tuple are not of one kind.
    ...(items === undefined || prefixItems !== undefined ? {} : { items: plainPart(items) }),
  };
}

function plainParts(properties: unknown): Record<string, GraphInputPart> {
  return Object.fromEntries(Object.entries(properties as object).map(([name, part]) => [name, plainPart(part)]));
}
