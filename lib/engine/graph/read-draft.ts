import { encodeJson } from '../codec/json.js';
import { IDENTIFIER_RULE, isIdentifier } from '../definition/index.js';
import type { JsonText } from '../state/rows.js';
import { DEFAULT_GRAPH_LIMITS } from './graph-limits.js';
import { type GraphProblem, GraphProblems } from './graph-problem.js';
import { readGraph } from './read-graph.js';

export type DraftRead =
  | { readonly ok: true; readonly id: string; readonly source: JsonText }
  | { readonly ok: false; readonly problems: readonly GraphProblem[] };

/**
 * A draft as it is kept: JSON of bounded size (LIMIT-5), an object that says its id. All else of it may be faulty.
 *
 * Never throws, whatever it is given.
 */
export function readDraft(given: unknown): DraftRead {
  const problems = new GraphProblems();
  const read = readGraph(given, DEFAULT_GRAPH_LIMITS, problems);
  if (problems.any) return { ok: false, problems: problems.list(given) };
  if (typeof read !== 'object' || read === null || Array.isArray(read)) {
    problems.add('INVALID_SHAPE', [], { message: 'A graph is an object' });
    return { ok: false, problems: problems.list(read) };
  }
  const { id } = read as { id?: unknown };
  if (isIdentifier(id)) return { ok: true, id: id, source: encodeJson(read) };
  problems.add('INVALID_SHAPE', ['id'], { message: `"id" must be ${IDENTIFIER_RULE}` });
  return { ok: false, problems: problems.list(read) };
}
