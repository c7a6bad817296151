import type { CompiledGraph } from '../graph/index.js';
import { expressionsOf } from '../walk/index.js';

/** The variables that a graph's nodes read: what need not be looked at is not. */
export function readsOf({ nodes }: CompiledGraph): ReadonlySet<string> {
  const expressions = nodes.flatMap((node) => [
    ...expressionsOf(node),
    ...(node.when ? [node.when] : []),
    ...node.escalations.flatMap(({ to }) => (to !== null && 'variables' in to ? [to] : [])),
  ]);
  return new Set(expressions.flatMap(({ variables }) => variables));
}
