import { InvalidOutputError } from '../../errors/index.js';
import { byteLength, decodeJson, encodeJson } from '../codec/json.js';
import { readSafely } from '../codec/read-safely.js';
import type { GraphLimits } from './graph-limits.js';
import type { GraphPath, GraphProblems } from './graph-problem.js';

/**
 * A copy of what was given, as plain JSON of bounded size; undefined, with problems, where it is none.
 *
 * Looks at the counts first: what is too large is refused before anything of it is looked at (LIMIT-5).
 */
export function readGraph(given: unknown, limits: GraphLimits, problems: GraphProblems): unknown {
  countItems(given, 'nodes', limits, problems);
  countItems(given, 'edges', limits, problems);
  if (problems.any) return undefined;
  const text = encode(given, limits, problems);
  if (text === undefined) return undefined;
  const graph = decodeJson(text);
  checkDepth(graph, limits, problems);
  return problems.any ? undefined : graph;
}

function countItems(given: unknown, name: 'nodes' | 'edges', limits: GraphLimits, problems: GraphProblems): void {
  const length = lengthOf(readSafely(given, name));
  const limit = name === 'nodes' ? 'maxNodes' : 'maxEdges';
  if (length > limits[limit]) tooLarge([name], limit, length, limits, problems);
}

/** Of a list, also one that throws when it is asked. */
function lengthOf(list: unknown): number {
  try {
    return Array.isArray(list) ? list.length : 0;
  } catch {
    return 0;
  }
}

function encode(given: unknown, limits: GraphLimits, problems: GraphProblems): string | undefined {
  const { maxBytes } = limits;
  let text: string;
  try {
    text = encodeJson(given, { maxBytes, limit: 'maxBytes' });
  } catch (error) {
    if (!(error instanceof InvalidOutputError)) throw error;
    const { path, reason, preview } = error.params;
    if (preview !== undefined) tooLarge([], 'maxBytes', `more than ${maxBytes}`, limits, problems);
    else problems.add('INVALID_SHAPE', [], { message: `${path} ${reason}` });
    return undefined;
  }
  if (byteLength(text) <= maxBytes) return text;
  tooLarge([], 'maxBytes', byteLength(text), limits, problems);
  return undefined;
}

/** Level by level, so that no depth overflows a stack. */
function checkDepth(graph: unknown, limits: GraphLimits, problems: GraphProblems): void {
  let level: readonly Place[] = typeof graph === 'object' && graph !== null ? [{ value: graph, path: [] }] : [];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > limits.maxDepth) return tooLarge(level[0]!.path, 'maxDepth', depth, limits, problems);
    const next: Place[] = [];
    for (const { value, path } of level) {
      for (const [key, item] of Object.entries(value as object)) {
        const at = [...path, Array.isArray(value) ? Number(key) : key];
        if (key === '__proto__')
          problems.add('INVALID_SHAPE', at, { message: 'The key "__proto__" cannot be used; give it another name' });
        else if (typeof item === 'object' && item !== null) next.push({ value: item, path: at });
      }
    }
    level = next;
  }
}

interface Place {
  readonly value: unknown;
  readonly path: GraphPath;
}

function tooLarge(
  path: GraphPath,
  limit: keyof GraphLimits,
  actual: unknown,
  limits: GraphLimits,
  problems: GraphProblems,
): void {
  const where = path.length === 0 ? 'The graph' : path.length === 1 ? `The list of ${String(path[0])}` : 'A value';
  problems.add('GRAPH_TOO_LARGE', path, { where, actual, limit, value: limits[limit] });
}
