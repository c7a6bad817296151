import { closestName } from '../../errors/index.js';
import type { CompiledDefinition } from '../definition/index.js';
import { DONE, SKIPPED, type CompiledGraph, type CompiledGraphNode } from '../graph/index.js';

/** What the graph itself says of a node's output. */
const OWN_OUTPUT: ReadonlySet<string> = new Set([
  'condition',
  'branch',
  'loop',
  'parallel',
  'end',
  'set_field',
  'emit_event',
]);

interface Problem {
  readonly path: string;
  readonly message: string;
}

/** What a dry run cannot take for given: of nodes that there are not, or that say it themselves. */
export function dryRunProblems(
  definition: CompiledDefinition | CompiledGraph,
  outputs: ReadonlyMap<string, unknown>,
  outcomes: ReadonlyMap<string, string>,
): Problem[] {
  const nodes = nodesOf(definition);
  const problems: Problem[] = [];
  const known = (path: string, id: string): boolean => {
    if (nodes.has(id)) return true;
    const near = closestName(id, [...nodes.keys()]);
    const hint = near === undefined ? '' : `; did you mean "${near}"?`;
    problems.push({ path: `${path}.${id}`, message: `is about no node of ${definition.id}${hint}` });
    return false;
  };
  for (const id of outputs.keys()) {
    if (!known('outputs', id)) continue;
    const node = nodes.get(id);
    if (node?.builtIn && OWN_OUTPUT.has(node.type))
      problems.push({ path: `outputs.${id}`, message: `is what the ${node.type} itself says; say what it reads` });
  }
  for (const [id, outcome] of outcomes) {
    if (!known('outcomes', id)) continue;
    const possible = outcomesOf(nodes.get(id) ?? null);
    if (!possible.includes(outcome))
      problems.push({
        path: `outcomes.${id}`,
        message: `must be one of its outcomes: ${possible.join(', ') || 'none'}`,
      });
  }
  return problems;
}

/** Of a pipeline each stage, of which nothing more is to be known here. */
function nodesOf(definition: CompiledDefinition | CompiledGraph): ReadonlyMap<string, CompiledGraphNode | null> {
  if ('source' in definition) return new Map(definition.nodes.map((node) => [node.id, node]));
  return new Map(definition.nodes.flatMap(({ stages }) => stages.map(({ key }) => [key, null] as const)));
}

function outcomesOf(node: CompiledGraphNode | null): string[] {
  if (node === null) return [DONE, SKIPPED];
  const { type, builtIn, edges, when } = node;
  if (builtIn && (type === 'parallel' || type === 'end')) return when === null ? [] : [SKIPPED];
  const leaves = when !== null || !builtIn;
  return [...new Set([...edges.keys(), ...(leaves ? [SKIPPED] : [])])];
}
