import { around, edge, end, type FaultyGraph, graphOf, note } from './faulty-graph.js';

const condition = { id: 'c', type: 'condition', config: { if: 'input.ok' } };

export const EDGES: readonly FaultyGraph[] = [
  {
    name: 'an edge to nowhere and one from nowhere',
    graph: graphOf({ edges: [edge('a', 'b'), edge('b', 'ende'), edge('x', 'end')] }),
    problems: [
      ['DEAD_END', '$.nodes[1]'],
      ['UNREACHABLE_NODE', '$.nodes[2]'],
      ['UNKNOWN_NODE', '$.edges[1].to'],
      ['UNKNOWN_NODE', '$.edges[2].from'],
    ],
  },
  { name: 'a start that is no node', graph: graphOf({ start: 'nope' }), problems: [['UNKNOWN_NODE', '$.start']] },
  { name: 'a start in the middle', graph: graphOf({ start: 'b' }), problems: [['UNREACHABLE_NODE', '$.nodes[0]']] },
  { name: 'a missing edge', graph: around(condition, ['true']), problems: [['MISSING_EDGE', '$.nodes[1]']] },
  {
    name: 'edges of a condition with other names',
    graph: around(condition, ['yes', 'no']),
    problems: [
      ['MISSING_EDGE', '$.nodes[1]'],
      ['MISSING_EDGE', '$.nodes[1]'],
      ['UNKNOWN_OUTCOME', '$.edges[1].outcome'],
      ['UNKNOWN_OUTCOME', '$.edges[2].outcome'],
    ],
  },
  {
    name: 'an edge without outcome out of a condition',
    graph: around(condition, ['true', 'false', undefined]),
    problems: [['UNKNOWN_OUTCOME', '$.edges[3].outcome']],
  },
  {
    name: 'two edges for one outcome, once named and once not',
    graph: graphOf({ edges: [edge('a', 'b'), edge('b', 'end'), edge('a', 'end', 'done')] }),
    problems: [['DUPLICATE_EDGE', '$.edges[2]']],
  },
  {
    name: 'an edge out of an end',
    graph: graphOf({
      nodes: [note('a'), end, { id: 'end2', type: 'end' }],
      edges: [edge('a', 'end'), edge('end', 'end2')],
    }),
    problems: [['UNKNOWN_OUTCOME', '$.edges[1].outcome']],
  },
  {
    name: 'outcomes of a stage, one without an edge',
    graph: around({ id: 's', type: 'acme.score' }, ['good']),
    problems: [['MISSING_EDGE', '$.nodes[1]']],
  },
  {
    name: 'a stage of two outcomes with an edge that names none',
    graph: around({ id: 's', type: 'acme.score' }, ['good', 'bad', undefined]),
    problems: [['UNKNOWN_OUTCOME', '$.edges[3].outcome']],
  },
  {
    name: 'a timeout edge of a wait without timeout',
    graph: around({ id: 'w', type: 'wait', config: { event: { key: '"a"' } } }, [undefined, 'timeout']),
    problems: [['UNKNOWN_OUTCOME', '$.edges[2].outcome']],
  },
  {
    name: 'a condition that may be skipped, and does not say where to',
    graph: around({ ...condition, when: 'input.ok' }, ['true', 'false']),
    problems: [['MISSING_EDGE', '$.nodes[1]']],
  },
  {
    name: 'an escalation that takes an edge which is not there',
    graph: around(
      {
        id: 'w',
        type: 'wait',
        config: { event: { key: '"a"' } },
        escalations: [{ after: '1 day', action: { type: 'take_edge', outcome: 'late' } }],
      },
      [undefined],
    ),
    problems: [['MISSING_EDGE', '$.nodes[1]']],
  },
  {
    name: 'a node that nothing follows',
    graph: graphOf({ edges: [edge('a', 'b')] }),
    problems: [
      ['DEAD_END', '$.nodes[1]'],
      ['UNREACHABLE_NODE', '$.nodes[2]'],
    ],
  },
  {
    name: 'no end',
    graph: graphOf({ nodes: [note('a'), note('b')], edges: [edge('a', 'b')] }),
    problems: [
      ['NO_END', '$.nodes'],
      ['DEAD_END', '$.nodes[1]'],
    ],
  },
  {
    name: 'nodes that nobody gets to',
    graph: graphOf({
      nodes: [note('a'), note('b'), end, note('x'), note('y')],
      edges: [edge('a', 'b'), edge('b', 'end'), edge('x', 'y'), edge('y', 'end')],
    }),
    problems: [
      ['UNREACHABLE_NODE', '$.nodes[3]'],
      ['UNREACHABLE_NODE', '$.nodes[4]'],
    ],
  },
  {
    name: 'a circle',
    graph: around({ ...condition }, ['true'], {
      edges: [edge('a', 'c'), edge('c', 'a', 'true'), edge('c', 'end', 'false')],
    }),
    problems: [['GRAPH_CYCLE', '$.edges[1]']],
  },
  {
    name: 'a node that follows itself',
    graph: around(condition, [], { edges: [edge('a', 'c'), edge('c', 'c', 'true'), edge('c', 'end', 'false')] }),
    problems: [['GRAPH_CYCLE', '$.edges[1]']],
  },
  {
    name: 'a circle that never ends',
    graph: graphOf({ edges: [edge('a', 'b'), edge('b', 'a')] }),
    problems: [
      ['UNREACHABLE_NODE', '$.nodes[2]'],
      ['GRAPH_CYCLE', '$.edges[1]'],
    ],
  },
];
