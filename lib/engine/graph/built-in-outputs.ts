import type { FieldType, InputShape } from '../expression/index.js';

/** What nodes of a built-in type give, where that is the same for all or follows from their config. Any config: it may be faulty. */
export function builtInOutput(type: string, config: unknown, input: InputShape | undefined): FieldType {
  switch (type) {
    case 'condition':
      return 'bool';
    case 'branch':
      return 'string';
    case 'parallel':
      return { branches: 'list<string>' };
    case 'loop':
      return loopOutput((config ?? {}) as Readonly<Record<string, unknown>>, input);
    default:
      return 'dyn';
  }
}

/** Of a turn; a loop that is done gives its `count` alone. */
function loopOutput({ forEach }: Readonly<Record<string, unknown>>, input: InputShape | undefined): FieldType {
  const turn = { index: 'double', count: 'double' };
  return forEach === undefined ? turn : { ...turn, items: 'list<dyn>', item: itemOf(forEach, input) };
}

const FIELD_OF_INPUT = /^\s*input((?:\.\w+)+)\s*$/;

/** What a list of the input holds: `input.order.lines`. */
function itemOf(forEach: unknown, input: InputShape | undefined): FieldType {
  const [, path] = FIELD_OF_INPUT.exec(String(forEach)) ?? [];
  let at: FieldType | undefined = path === undefined ? undefined : input;
  for (const field of path?.slice(1).split('.') ?? [])
    at = isObject(at) && Object.hasOwn(at, field) ? at[field] : undefined;
  if (Array.isArray(at)) return at[0] as InputShape;
  return typeof at === 'string' ? (/^list<(.+)>$/.exec(at)?.[1] ?? 'dyn') : 'dyn';
}

const isObject = (type: FieldType | undefined): type is InputShape =>
  type !== undefined && typeof type !== 'string' && !Array.isArray(type);
