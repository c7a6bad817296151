import { readFileSync } from 'node:fs';
import { BUILT_IN_TYPES } from '../../../../lib/engine/graph/built-in-types.js';
import { DEFAULT_GRAPH_LIMITS, graph, type Graph, validateGraph } from '../../../../lib/engine/graph/index.js';
import { GRAPH_CODES } from '../../../../lib/errors/codes/graph.codes.js';
import { CATALOGUE } from './graphs.js';

const page = readFileSync('docs/graphs.md', 'utf8');
const graphs = [...page.matchAll(/```json\n([^]*?)```/g)]
  .map(([, text]) => JSON.parse(text!) as Graph)
  // The others are answers.
  .filter(({ nodes }) => nodes !== undefined);

describe('docs/graphs.md', () => {
  it.each(graphs.map((one) => [one.id, one] as const))('GRAPH-1: the graph %s is valid', async (_id, given) => {
    const types = { ...CATALOGUE.types, 'acme.account': {}, 'acme.desk': {} };
    const validation = await validateGraph(given, { ...CATALOGUE, types });
    expect(validation.ok ? [] : validation.problems).toEqual([]);
  });

  it('GRAPH-1: the builder of the page writes the graph of the page, but for what it leaves out', () => {
    const code = /const expenseApproval = ([^]*?);\n```/.exec(page)![1]!;
    // Written by us, in the page that is tested here.
    const built = new Function('graph', `return ${code}`)(graph) as Graph;
    const { settings: _settings, nodes, ...rest } = graphs[0]!;
    expect(built).toEqual({ ...rest, nodes: nodes.map(({ ...node }) => ({ ...node, escalations: undefined })) });
  });

  it('GRAPH-1: the graph of the README is valid', async () => {
    const code = /definitions\.publish\(([^]*?)\);\n```/.exec(readFileSync('README.md', 'utf8'))![1]!;
    const given = new Function(`return ${code}`)() as unknown;
    const validation = await validateGraph(given, { types: { 'acme.pay': {} }, approvers: ['leads'] });
    expect(validation.ok ? [] : validation.problems).toEqual([]);
  });

  it('GRAPH-2: names every code, type and limit', () => {
    for (const code of Object.keys(GRAPH_CODES)) expect(page).toContain(`\`${code}\``);
    for (const type of Object.keys(BUILT_IN_TYPES)) expect(page).toContain(`| \`${type}\``);
    expect(page).toContain(`${DEFAULT_GRAPH_LIMITS.maxNodes} and ${DEFAULT_GRAPH_LIMITS.maxEdges}`);
    expect(page).toContain('at most 1,000 times');
  });
});
