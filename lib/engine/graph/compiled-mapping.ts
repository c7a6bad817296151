import { jsonPath } from '../codec/json-path.js';
import type { Expression, ExpressionAnswer, ExpressionValues } from '../expression/index.js';
import type { GraphPath } from './graph-problem.js';

/** JSON of which every text is an expression, compiled. */
export type CompiledMapping =
  | { readonly kind: 'expression'; readonly expression: Expression }
  | { readonly kind: 'constant'; readonly value: unknown }
  | { readonly kind: 'list'; readonly items: readonly CompiledMapping[] }
  | { readonly kind: 'object'; readonly fields: readonly (readonly [name: string, value: CompiledMapping])[] };

/** Compiles a mapping; undefined where one of its expressions is not valid, each of which `compile` has complained about. */
export function compileMapping(
  mapping: unknown,
  path: GraphPath,
  compile: (text: string, path: GraphPath) => Expression | undefined,
): CompiledMapping | undefined {
  if (typeof mapping === 'string') {
    const expression = compile(mapping, path);
    return expression && { kind: 'expression', expression };
  }
  if (typeof mapping !== 'object' || mapping === null) return { kind: 'constant', value: mapping };
  if (Array.isArray(mapping)) {
    const items = mapping.map((item, at) => compileMapping(item, [...path, at], compile));
    return items.includes(undefined) ? undefined : { kind: 'list', items: items as CompiledMapping[] };
  }
  const fields = Object.entries(mapping).map(
    ([name, item]) => [name, compileMapping(item, [...path, name], compile)] as const,
  );
  return fields.some(([, item]) => item === undefined)
    ? undefined
    : { kind: 'object', fields: fields as (readonly [string, CompiledMapping])[] };
}

/** What a mapping gives, as JSON; or the first problem, with its place in the mapping. */
export function evaluateMapping(mapping: CompiledMapping, values: ExpressionValues): ExpressionAnswer {
  const keys: (string | number)[] = [];
  const read = (part: CompiledMapping): unknown => {
    switch (part.kind) {
      case 'constant':
        return part.value;
      case 'expression': {
        const answer = part.expression.evaluate(values);
        if (!answer.ok) throw new MappingProblem(`${jsonPath('$', keys)}: ${answer.problem}`);
        return answer.value;
      }
      case 'list':
        return part.items.map((item, at) => inside(at, item));
      case 'object':
        return Object.fromEntries(part.fields.map(([name, item]) => [name, inside(name, item)]));
    }
  };
  const inside = (key: string | number, part: CompiledMapping): unknown => {
    keys.push(key);
    const value = read(part);
    keys.pop();
    return value;
  };
  try {
    return { ok: true, value: read(mapping) };
  } catch (error) {
    if (error instanceof MappingProblem) return { ok: false, problem: error.problem };
    throw error;
  }
}

class MappingProblem {
  constructor(readonly problem: string) {}
}
