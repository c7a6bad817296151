import { type GraphProblem, validateGraph } from '../../../../lib/engine/graph/index.js';
import { ERROR_CODES } from '../../../../lib/errors/index.js';
import { FAULTY_GRAPHS } from './faulty/index.js';
import { CATALOGUE, everyType, expenseApproval } from './graphs.js';

async function problemsOf(graph: unknown): Promise<readonly GraphProblem[]> {
  const validation = await validateGraph(graph, CATALOGUE);
  return validation.ok ? [] : validation.problems;
}

describe('validateGraph', () => {
  it.each([
    ['an approval', expenseApproval()],
    ['every type', everyType()],
  ])('GRAPH-1: takes %s', async (_, graph) => {
    expect(await problemsOf(graph)).toEqual([]);
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
