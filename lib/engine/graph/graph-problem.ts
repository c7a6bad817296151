import { closestName, type ErrorCode, formatMessage } from '../../errors/index.js';
import { jsonPath } from '../codec/json-path.js';

/** The codes that a graph is refused with. */
export type ProblemCode = Extract<
  ErrorCode,
  | 'INVALID_SHAPE'
  | 'INVALID_CONFIG'
  | 'INVALID_DURATION'
  | 'INVALID_EXPRESSION'
  | 'INVALID_SCHEDULE'
  | 'GRAPH_TOO_LARGE'
  | 'UNKNOWN_TYPE'
  | 'UNKNOWN_NODE'
  | 'UNKNOWN_OUTCOME'
  | 'UNKNOWN_APPROVERS'
  | 'UNKNOWN_ENTITY'
  | 'UNKNOWN_WORKFLOW'
  | 'DUPLICATE_ID'
  | 'WORKFLOW_ID_TAKEN'
  | 'DUPLICATE_EDGE'
  | 'MISSING_EDGE'
  | 'DEAD_END'
  | 'NO_END'
  | 'UNREACHABLE_NODE'
  | 'GRAPH_CYCLE'
  | 'BODY_ENTERED'
  | 'BODY_NOT_CLOSED'
  | 'END_IN_BRANCH'
  | 'OUTPUT_NOT_AVAILABLE'
  | 'APPROVAL_CANNOT_PASS'
  | 'ACTOR_REQUIRES_USER'
  | 'TRIGGER_REQUIRES_OWNER'
>;

/** One fault of a graph. */
export interface GraphProblem {
  readonly code: ProblemCode;
  /** Where in the graph, as it is written in code: `$.nodes[3].config.if`. */
  readonly path: string;
  /** What is wrong and what to do, in the default locale. */
  readonly message: string;
  /** What the message is made of, for texts of the host's own (`formatMessage`). */
  readonly params: Readonly<Record<string, unknown>>;
}

/** Where in a graph: the keys that lead there. */
export type GraphPath = readonly (string | number)[];

/** No graph of 256 KiB is corrected in one go beyond this. */
const MAX_PROBLEMS = 1_000;
/** Looking for the nearest of 200 names takes milliseconds, and a graph may have a thousand that are wrong. */
const MAX_SUGGESTIONS = 20;

/** Gathers what is wrong with a graph. */
export class GraphProblems {
  readonly #found: { readonly code: ProblemCode; readonly path: GraphPath; readonly params: object }[] = [];

  #suggestions = 0;

  get any(): boolean {
    return this.#found.length > 0;
  }

  add(code: ProblemCode, path: GraphPath, params: object): void {
    if (this.#found.length < MAX_PROBLEMS) this.#found.push({ code, path, params });
  }

  /** The name that a wrong one most likely stands for, of the first wrong ones. */
  closest(name: string, known: readonly string[]): string | undefined {
    this.#suggestions += 1;
    return this.#suggestions > MAX_SUGGESTIONS ? undefined : closestName(name, known);
  }

  /** All problems, in the order of the places in the graph; those of one place in the order they were found. */
  list(graph: unknown): GraphProblem[] {
    const order = new KeyOrder();
    return this.#found
      .map((problem) => ({ ...problem, rank: rankOf(problem.path, graph, order) }))
      .sort((a, b) => compare(a.rank, b.rank))
      .map(({ code, path, params }) => ({
        code,
        path: jsonPath('$', path),
        message: formatMessage(code, params),
        params: { ...params },
      }));
  }
}

/** The place as numbers: of each key how many stand before it. What is missing comes after what is there. */
function rankOf(path: GraphPath, graph: unknown, order: KeyOrder): number[] {
  let value = graph;
  return path.map((key) => {
    if (typeof value !== 'object' || value === null) return Infinity;
    const at = Array.isArray(value) ? Number(key) : order.of(value, String(key));
    value = Object.hasOwn(value, key) ? (value as Record<string | number, unknown>)[key] : undefined;
    return at;
  });
}

/** How many keys stand before one in its object, told once for each object. */
class KeyOrder {
  readonly #orders = new Map<object, ReadonlyMap<string, number>>();

  of(holder: object, key: string): number {
    let order = this.#orders.get(holder);
    if (order === undefined) {
      order = new Map(Object.keys(holder).map((name, at) => [name, at]));
      this.#orders.set(holder, order);
    }
    return order.get(key) ?? Infinity;
  }
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (let at = 0; at < Math.min(a.length, b.length); at += 1) {
    if (a[at] !== b[at]) return a[at]! < b[at]! ? -1 : 1;
  }
  return a.length - b.length;
}
