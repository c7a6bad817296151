import { z } from 'zod';
import { canonicalJson } from '../codec/canonical-json.js';
import type { ParsableSchema } from '../definition/index.js';
import type { GraphInputPart } from './input-schema.js';

interface Issue {
  readonly path: (string | number)[];
  readonly message: string;
}

/** Nobody mends more at once. */
const MOST_ISSUES = 100;

/** What `format` asks of a text. */
const FORMATS: Readonly<Record<string, z.ZodType>> = {
  date: z.iso.date(),
  'date-time': z.iso.datetime({ offset: true }),
  time: z.iso.time(),
  duration: z.iso.duration(),
  email: z.email(),
  uri: z.url(),
  uuid: z.uuid(),
};

/**
 * A run's input as the graph's `input` wants it: those parts of JSON Schema that a graph may use. Defaults are for whoever fills in a
 * form; a run gets what it was started with. Null where the graph says nothing.
 */
export function inputCheck(schema: GraphInputPart | undefined): ParsableSchema | null {
  if (schema === undefined) return null;
  return {
    safeParseAsync: (value) => {
      const issues: Issue[] = [];
      check(schema, value, [], issues);
      return Promise.resolve(
        issues.length === 0 ? { success: true, data: value } : { success: false, error: { issues } },
      );
    },
  };
}

function check(part: GraphInputPart, value: unknown, path: Issue['path'], issues: Issue[]): void {
  const need = (holds: boolean, message: string): void => {
    if (!holds && issues.length < MOST_ISSUES) issues.push({ path, message });
  };
  const types = part.type === undefined ? [] : [part.type].flat();
  if (types.length > 0 && !types.some((type) => isOf(type, value))) {
    return need(false, value === undefined ? 'is missing' : `must be of type ${types.join(' or ')}`);
  }
  if (part.enum)
    need(
      part.enum.some((one) => isSame(one, value)),
      `must be one of ${JSON.stringify(part.enum)}`,
    );
  if ('const' in part && part.const !== undefined)
    need(isSame(part.const, value), `must be ${JSON.stringify(part.const)}`);
  if (typeof value === 'number') {
    need(part.minimum === undefined || value >= part.minimum, `must be at least ${part.minimum}`);
    need(part.maximum === undefined || value <= part.maximum, `must be at most ${part.maximum}`);
  } else if (typeof value === 'string') {
    const length = [...value].length;
    need(part.minLength === undefined || length >= part.minLength, `must have at least ${part.minLength} characters`);
    need(part.maxLength === undefined || length <= part.maxLength, `must have at most ${part.maxLength} characters`);
    const format = part.format === undefined ? undefined : FORMATS[part.format];
    need(format === undefined || format.safeParse(value).success, `must be a ${part.format}`);
  } else if (Array.isArray(value)) {
    need(part.minItems === undefined || value.length >= part.minItems, `must have at least ${part.minItems} items`);
    need(part.maxItems === undefined || value.length <= part.maxItems, `must have at most ${part.maxItems} items`);
    if (part.items) for (const [at, item] of value.entries()) check(part.items, item, [...path, at], issues);
  } else if (typeof value === 'object' && value !== null) checkFields(part, value, path, issues);
}

function checkFields(part: GraphInputPart, value: object, path: Issue['path'], issues: Issue[]): void {
  const { properties = {}, required = [], additionalProperties = true } = part;
  const complain = (name: string, message: string): void => {
    if (issues.length < MOST_ISSUES) issues.push({ path: [...path, name], message });
  };
  for (const name of required) if (!Object.hasOwn(value, name)) complain(name, 'is missing');
  for (const [name, field] of Object.entries(value)) {
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (known) check(known, field, [...path, name], issues);
    else if (!additionalProperties) complain(name, 'is not a field of this input');
  }
}

function isOf(type: string, value: unknown): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

const isSame = (a: unknown, b: unknown): boolean => b !== undefined && canonicalJson(a) === canonicalJson(b);
