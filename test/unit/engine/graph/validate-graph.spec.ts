import { z } from 'zod';
import { type GraphProblem, validateGraph } from '../../../../lib/engine/graph/index.js';
import { ERROR_CODES } from '../../../../lib/errors/index.js';
import { edge, graphOf } from './faulty/faulty-graph.js';
import { FAULTY_GRAPHS } from './faulty/index.js';
import { CATALOGUE, everyType, expenseApproval } from './graphs.js';
import {
  asking,
  askingAfter,
  askingInLoop,
  OPEN_AFTER,
  OPEN_IN_LOOP,
  OPEN_CONDITIONS,
  TYPED_INPUT,
} from './typed-input.js';

async function problemsOf(graph: unknown, catalogue = CATALOGUE): Promise<readonly GraphProblem[]> {
  const validation = await validateGraph(graph, catalogue);
  return validation.ok ? [] : validation.problems;
}

describe('validateGraph', () => {
  it.each([
    ['an approval', expenseApproval()],
    ['every type', everyType()],
  ])('GRAPH-1: takes %s', async (_, graph) => {
    expect(await problemsOf(graph)).toEqual([]);
  });

  it.each(OPEN_CONDITIONS)('GRAPH-2: takes %s, which no type says anything against', async (text) => {
    expect(await problemsOf(asking(text))).toEqual([]);
  });

  it.each(OPEN_AFTER)('GRAPH-2: takes %s, which no output says anything against', async (text) => {
    expect(await problemsOf(askingAfter(text))).toEqual([]);
  });

  it.each(OPEN_IN_LOOP)('GRAPH-2: takes %s in a loop', async (text) => {
    expect(await problemsOf(askingInLoop(text))).toEqual([]);
  });

  it.each(['input.any', 'input.loose', 'input.open.list', 'output("c") ? input.people : input.amounts', '[{"id": 5}]'])(
    'GRAPH-2: takes any field of the items of %s',
    async (forEach) => {
      expect(await problemsOf(askingInLoop('output("l").item.nosuch.either', { forEach }))).toEqual([]);
    },
  );

  it('GRAPH-2: takes any output of a schema that is none of zod, or that cannot be read', async () => {
    const foreign = { safeParseAsync: () => Promise.reject(new Error('never asked')) };
    const broken = { ...foreign, _zod: { def: { type: 'nope' } } };
    for (const outputSchema of [foreign, broken, null, z.json(), z.lazy(() => z.never())]) {
      const types = { ...CATALOGUE.types, 'acme.flag': { outputSchema } };
      expect(await problemsOf(askingAfter('output("f").anything'), { ...CATALOGUE, types })).toEqual([]);
    }
  });

  it('GRAPH-2: takes an instant, a list, a number and a text where they are wanted', async () => {
    const graph = graphOf({
      input: TYPED_INPUT,
      nodes: [
        { id: 'w', type: 'wait', config: { until: 'input.name' } },
        { id: 'v', type: 'wait', config: { until: '"2030-01-01T00:00:00Z"' } },
        { id: 'l', type: 'loop', config: { forEach: 'input.ok ? input.amounts : input.people' } },
        { id: 'm', type: 'loop', config: { count: 'input.count * 2' } },
        { id: 'e', type: 'emit_event', config: { key: 'input.kind + string(input.count)' }, input: 'input' },
        {
          id: 'f',
          type: 'emit_event',
          config: { key: 'input.any' },
          input: ['input.order', 'input.ok ? 5 : input.amount'],
        },
        { id: 'end', type: 'end' },
      ],
      edges: [
        edge('w', 'v'),
        edge('v', 'l'),
        edge('l', 'm', 'each'),
        edge('m', 'e', 'each'),
        edge('e', 'm'),
        edge('m', 'l'),
        edge('l', 'f'),
        edge('f', 'end'),
      ],
    });
    expect(await problemsOf(graph)).toEqual([]);
  });

  it('GRAPH-2: says what an expression gives, and what was wanted', async () => {
    const said = async (text: string) => (await problemsOf(asking(text))).map(({ message }) => message);
    expect(await said('input.amount')).toEqual([expect.stringContaining('it gives a number, not true or false')]);
    expect(await said('input.order')).toEqual([expect.stringContaining('it gives an object, not true or false')]);
    expect(await said('input.people')).toEqual([expect.stringContaining('it gives a list of objects, not true or')]);
    expect(await said('input.name.substring(input.count) == "x"')).toEqual([
      expect.stringContaining('numbers of JSON are double, int() makes whole ones'),
    ]);
  });

  it('GRAPH-2: what was published runs on, whatever a later build knows of types', async () => {
    const published = { ...CATALOGUE, published: true };
    for (const text of ['input.amount', 'input.nosuch', '1 / 0 > 1']) {
      expect(await problemsOf(asking(text))).toHaveLength(1);
      expect(await problemsOf(asking(text), published)).toEqual([]);
    }
    expect(await problemsOf(asking('inptu.amount > 5'), published)).toHaveLength(1);
  });

  it.each(FAULTY_GRAPHS.map(({ name, graph, problems }) => [name, graph, problems] as const))(
    'GRAPH-2: %s',
    async (_name, graph, problems) => {
      const found = await problemsOf(graph);
      expect(found.map(({ code, path }) => [code, path])).toEqual(problems);
      for (const { code, message } of found) {
        expect(Object.keys(ERROR_CODES)).toContain(code);
        expect(message).not.toMatch(/undefined|\[object|\{\w+\}/);
        expect(message).toMatch(/[.?:]$|\.$|accepts\.$|\)\.$/);
      }
    },
  );

  it('GRAPH-2: the corpus has every code that a graph is refused with', () => {
    const codes = new Set(FAULTY_GRAPHS.flatMap(({ problems }) => problems.map(([code]) => code)));
    expect(FAULTY_GRAPHS.length).toBeGreaterThan(100);
    expect([...codes].sort()).toEqual([
      'ACTOR_REQUIRES_USER',
      'APPROVAL_CANNOT_PASS',
      'BODY_ENTERED',
      'BODY_NOT_CLOSED',
      'DEAD_END',
      'DUPLICATE_EDGE',
      'DUPLICATE_ID',
      'END_IN_BRANCH',
      'GRAPH_CYCLE',
      'GRAPH_TOO_LARGE',
      'INVALID_CONFIG',
      'INVALID_DURATION',
      'INVALID_EXPRESSION',
      'INVALID_SCHEDULE',
      'INVALID_SHAPE',
      'MISSING_EDGE',
      'NO_END',
      'OUTPUT_NOT_AVAILABLE',
      'UNKNOWN_APPROVERS',
      'UNKNOWN_ENTITY',
      'UNKNOWN_NODE',
      'UNKNOWN_OUTCOME',
      'UNKNOWN_TYPE',
      'UNKNOWN_WORKFLOW',
      'UNREACHABLE_NODE',
    ]);
  });
});
