import type { Expression } from '../expression/index.js';
import type { CompiledGraphNode, CompiledMapping } from '../graph/index.js';

/** All that has to be evaluated when a node is passed, its `when` apart. */
export function expressionsOf({ expressions, mappings, input }: CompiledGraphNode): readonly Expression[] {
  const mapped = [...mappings.values(), ...(input ? [input] : [])].flatMap(expressionsIn);
  return [...expressions.values(), ...mapped];
}

/** All expressions of a mapping. */
export function expressionsIn(mapping: CompiledMapping): readonly Expression[] {
  switch (mapping.kind) {
    case 'expression':
      return [mapping.expression];
    case 'constant':
      return [];
    case 'list':
      return mapping.items.flatMap(expressionsIn);
    case 'object':
      return mapping.fields.flatMap(([, value]) => expressionsIn(value));
  }
}
