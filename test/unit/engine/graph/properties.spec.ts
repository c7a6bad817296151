import { fc } from '../../../support/properties.js';
import {
  diffGraphs,
  GRAPH_SCHEMA,
  toMermaid,
  validateGraph,
  type Graph,
  type GraphValidation,
} from '../../../../lib/engine/graph/index.js';
import { ERROR_CODES } from '../../../../lib/errors/index.js';
import { CATALOGUE, everyType } from './graphs.js';
import { rebuild, validGraphs } from './random-graphs.js';

const problemsOf = (validation: GraphValidation) => (validation.ok ? [] : validation.problems);
const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
const sorted = (graph: Graph) => ({ ...graph, edges: [...graph.edges].map((edge) => JSON.stringify(edge)).sort() });

/** Each answer has codes of the catalogue and places, in the order of the graph. */
function expectWellFormed(validation: GraphValidation): void {
  if (validation.ok) return;
  expect(validation.problems.length).toBeGreaterThan(0);
  for (const { code, path, message } of validation.problems) {
    expect(Object.hasOwn(ERROR_CODES, code)).toBe(true);
    expect(path.startsWith('$')).toBe(true);
    expect(message.length).toBeGreaterThan(5);
  }
}

describe('any graph', () => {
  it('GRAPH-1: what the builder writes is valid JSON of its schema, and the same when it is written again', async () => {
    await fc.assert(
      fc.asyncProperty(validGraphs, async (graph) => {
        const validation = await validateGraph(graph, CATALOGUE);
        expect(problemsOf(validation)).toEqual([]);
        expect(copy(GRAPH_SCHEMA.parse(graph))).toEqual(graph);
        const again = copy(graph);
        expect(sorted(rebuild(again))).toEqual(sorted(graph));
        const twice = await validateGraph(again, CATALOGUE);
        expect(twice.ok && validation.ok && twice.graph.fingerprint === validation.graph.fingerprint).toBe(true);
        expect(diffGraphs(graph, again)).toEqual([]);
        expect(toMermaid(graph).split('\n')).toHaveLength(graph.nodes.length + graph.edges.length + 3);
      }),
      { numRuns: 80 },
    );
  });

  it('GRAPH-2: a valid graph in which anything is replaced is answered, never thrown at', async () => {
    const graphs = fc.oneof(validGraphs, fc.constant(everyType()));
    const values = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.constantFrom(undefined, 'nope', '__proto__', 'input.', -1, 1e308, [[]], {}),
    );
    await fc.assert(
      fc.asyncProperty(
        graphs,
        fc.array(fc.tuple(fc.nat(), values), { minLength: 1, maxLength: 4 }),
        async (graph, changes) => {
          const changed = copy(graph);
          for (const [at, value] of changes) replace(changed, at, value);
          expectWellFormed(await validateGraph(changed, CATALOGUE));
        },
      ),
      { numRuns: 150 },
    );
  });

  it('GRAPH-2: JSON of any kind is answered, never thrown at', async () => {
    const list = fc.array(fc.jsonValue({ maxDepth: 4 }), { maxLength: 5 });
    const anything = fc.oneof(
      fc.jsonValue(),
      fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true, withSparseArray: true }),
      fc.record(
        {
          id: fc.jsonValue(),
          nodes: list,
          edges: list,
          triggers: list,
          settings: fc.jsonValue(),
          input: fc.jsonValue(),
        },
        { requiredKeys: [] },
      ),
    );
    await fc.assert(
      fc.asyncProperty(anything, async (graph) => {
        const validation = await validateGraph(graph, CATALOGUE);
        expect(validation.ok).toBe(false);
        expectWellFormed(validation);
      }),
      { numRuns: 300 },
    );
  });
});

/**
 * Puts a value in the place of the `at`-th one of all there are in a graph. A copy: fast-check gives the same object
 * for each use of a constant, and what is put in is itself a place for what comes next, up to a ring.
 */
function replace(graph: unknown, at: number, value: unknown): void {
  const places: { readonly holder: Record<string, unknown>; readonly key: string }[] = [];
  const visit = (holder: unknown): void => {
    if (typeof holder !== 'object' || holder === null) return;
    for (const key of Object.keys(holder)) {
      places.push({ holder: holder as Record<string, unknown>, key });
      visit((holder as Record<string, unknown>)[key]);
    }
  };
  visit(graph);
  const place = places[at % Math.max(1, places.length)];
  if (place !== undefined) place.holder[place.key] = structuredClone(value);
}
