import type { FieldType, InputShape } from '../expression/index.js';
import type { GraphInputPart } from './input-schema.js';

/** What JSON Schema says of a value, as far as expressions are checked against it. */
export function fieldTypeOf(part: GraphInputPart): FieldType {
  switch (kindOf(part)) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'bool';
    case 'number':
      return 'double';
    case 'array':
      return listOf(part.items === undefined ? 'dyn' : fieldTypeOf(part.items));
    case 'object':
      return objectOf(part);
    default:
      return 'dyn';
  }
}

function listOf(item: FieldType): FieldType {
  if (typeof item === 'string') return item === 'dyn' || item.startsWith('list') ? 'list<dyn>' : `list<${item}>`;
  return Array.isArray(item) ? 'list<dyn>' : [item as InputShape];
}

function objectOf({ properties = {}, additionalProperties }: GraphInputPart): FieldType {
  const fields = Object.entries(properties);
  if (additionalProperties === true || (fields.length === 0 && additionalProperties !== false)) return 'dyn';
  return Object.fromEntries(fields.map(([name, field]) => [name, fieldTypeOf(field)]));
}

/** What all values of a part are, or undefined where they may be of several kinds. A null is one of its own. */
function kindOf({ type, enum: values, const: only }: GraphInputPart): string | undefined {
  const kinds =
    type === undefined ? (values ?? (only === undefined ? [] : [only])).map(kindOfValue) : [type].flat().map(jsonKind);
  return new Set(kinds).size === 1 ? kinds[0] : undefined;
}

const jsonKind = (type: string): string => (type === 'integer' ? 'number' : type);

/** Of a value that is written out, where it is a text, a number, true or false. */
const kindOfValue = (value: unknown): string => (typeof value === 'object' ? 'any' : typeof value);
