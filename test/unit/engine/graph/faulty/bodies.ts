import { edge, end, type FaultyGraph, graphOf, note } from './faulty-graph.js';

const loop = { id: 'l', type: 'loop', config: { count: 3 } };
const fork = { id: 'p', type: 'parallel', config: { join: 'all', branches: [{ outcome: 'x' }, { outcome: 'y' }] } };

export const BODIES: readonly FaultyGraph[] = [
  {
    name: 'a loop whose body never comes back',
    graph: graphOf({
      nodes: [loop, note('b'), end],
      edges: [edge('l', 'b', 'each'), edge('b', 'end'), edge('l', 'end')],
    }),
    problems: [['BODY_NOT_CLOSED', '$.edges[0]']],
  },
  {
    name: 'a loop without a body',
    graph: graphOf({ nodes: [loop, end], edges: [edge('l', 'l', 'each'), edge('l', 'end')] }),
    problems: [
      ['BODY_NOT_CLOSED', '$.edges[0]'],
      ['GRAPH_CYCLE', '$.edges[0]'],
    ],
  },
  {
    name: 'a loop that goes nowhere when it is done',
    graph: graphOf({ nodes: [loop, note('b'), end], edges: [edge('l', 'b', 'each'), edge('b', 'l')] }),
    problems: [
      ['MISSING_EDGE', '$.nodes[0]'],
      ['UNREACHABLE_NODE', '$.nodes[2]'],
    ],
  },
  {
    name: 'a way into the body of a loop past it',
    graph: graphOf({
      nodes: [{ id: 's', type: 'acme.score' }, loop, note('b'), end],
      edges: [edge('s', 'l', 'good'), edge('s', 'b', 'bad'), edge('l', 'b', 'each'), edge('b', 'l'), edge('l', 'end')],
    }),
    problems: [['BODY_ENTERED', '$.edges[1]']],
  },
  {
    name: 'a way out of a body to what follows the loop',
    graph: graphOf({
      nodes: [loop, { id: 's', type: 'acme.score' }, note('after'), end],
      edges: [
        edge('l', 's', 'each'),
        edge('s', 'l', 'good'),
        edge('s', 'after', 'bad'),
        edge('l', 'after'),
        edge('after', 'end'),
      ],
    }),
    problems: [['BODY_ENTERED', '$.edges[3]']],
  },
  {
    name: 'a branch that ends the run',
    graph: graphOf({
      nodes: [fork, note('b'), note('c'), end],
      edges: [edge('p', 'b', 'x'), edge('p', 'c', 'y'), edge('b', 'p'), edge('c', 'end'), edge('p', 'end')],
    }),
    problems: [
      ['BODY_NOT_CLOSED', '$.edges[1]'],
      ['END_IN_BRANCH', '$.edges[3].to'],
    ],
  },
  {
    name: 'two branches that meet before they join',
    graph: graphOf({
      nodes: [fork, note('b'), note('c'), end],
      edges: [edge('p', 'b', 'x'), edge('p', 'c', 'y'), edge('b', 'c'), edge('c', 'p'), edge('p', 'end')],
    }),
    problems: [
      ['BODY_ENTERED', '$.edges[1]'],
      ['BODY_ENTERED', '$.edges[2]'],
    ],
  },
  {
    name: 'a branch without an edge',
    graph: graphOf({
      nodes: [fork, note('b'), end],
      edges: [edge('p', 'b', 'x'), edge('b', 'p'), edge('p', 'end')],
    }),
    problems: [['MISSING_EDGE', '$.nodes[0]']],
  },
  {
    name: 'a start inside a body',
    graph: graphOf({
      start: 'b',
      nodes: [loop, note('b'), end],
      edges: [edge('l', 'b', 'each'), edge('b', 'l'), edge('l', 'end')],
    }),
    problems: [['BODY_ENTERED', '$.start']],
  },
  {
    name: 'a circle inside a body',
    graph: graphOf({
      nodes: [loop, { id: 's', type: 'acme.score' }, note('b'), end],
      edges: [edge('l', 's', 'each'), edge('s', 'l', 'good'), edge('s', 'b', 'bad'), edge('b', 's'), edge('l', 'end')],
    }),
    problems: [['GRAPH_CYCLE', '$.edges[3]']],
  },
];
