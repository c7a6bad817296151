import { edge, end, type FaultyGraph, graphOf, note } from './faulty-graph.js';

function deep(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

const many = (count: number) => Array.from({ length: count }, (_, at) => note(`n${at}`));
const cyclic: Record<string, unknown> = graphOf();
const withCycle = { ...cyclic, description: cyclic, self: undefined as unknown };
withCycle.self = withCycle;

export const SIZES: readonly FaultyGraph[] = [
  {
    name: '201 nodes',
    graph: graphOf({ nodes: [...many(200), end], edges: [] }),
    problems: [['GRAPH_TOO_LARGE', '$.nodes']],
  },
  {
    name: '10,000 edges and as many nodes',
    graph: graphOf({ nodes: many(10_000), edges: Array(10_000).fill(edge('x', 'y')) }),
    problems: [
      ['GRAPH_TOO_LARGE', '$.nodes'],
      ['GRAPH_TOO_LARGE', '$.edges'],
    ],
  },
  {
    name: '256 KiB of text',
    graph: graphOf({ description: 'é'.repeat(140_000) }),
    problems: [['GRAPH_TOO_LARGE', '$']],
  },
  {
    name: '50 levels',
    graph: graphOf({ nodes: [note('a', { input: deep(50) }), note('b'), end] }),
    problems: [['GRAPH_TOO_LARGE', `$.nodes[0].input${'[0]'.repeat(38)}`]],
  },
  { name: '100,000 levels', graph: graphOf({ x: deep(100_000) }), problems: [['INVALID_SHAPE', '$']] },
  { name: 'itself inside', graph: withCycle, problems: [['INVALID_SHAPE', '$']] },
  {
    name: '2,001 expressions',
    graph: graphOf({ nodes: [note('a', { input: Array(2_001).fill('1') }), note('b'), end] }),
    problems: [['GRAPH_TOO_LARGE', '$']],
  },
];
