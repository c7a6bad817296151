import { around, edge, end, type FaultyGraph, graphOf, note } from './faulty-graph.js';

export const SHAPE: readonly FaultyGraph[] = [
  { name: 'null', graph: null, problems: [['INVALID_SHAPE', '$']] },
  { name: 'a number', graph: 5, problems: [['INVALID_SHAPE', '$']] },
  { name: 'a list', graph: [], problems: [['INVALID_SHAPE', '$']] },
  { name: 'undefined', graph: undefined, problems: [['INVALID_SHAPE', '$']] },
  {
    name: 'an empty object',
    graph: {},
    problems: [
      ['INVALID_SHAPE', '$.id'],
      ['INVALID_SHAPE', '$.nodes'],
      ['INVALID_SHAPE', '$.edges'],
    ],
  },
  {
    name: 'no nodes',
    graph: graphOf({ nodes: [], edges: [] }),
    problems: [['INVALID_SHAPE', '$.nodes']],
  },
  { name: 'an unknown field', graph: graphOf({ colour: 'red' }), problems: [['INVALID_SHAPE', '$.colour']] },
  { name: 'an id with a blank', graph: graphOf({ id: 'my graph' }), problems: [['INVALID_SHAPE', '$.id']] },
  {
    name: 'nodes and edges of wrong types',
    graph: graphOf({ nodes: [note('a'), null, 5, end], edges: [edge('a', 'end'), 'a → end', { from: 'a' }] }),
    problems: [
      ['INVALID_SHAPE', '$.nodes[1]'],
      ['INVALID_SHAPE', '$.nodes[2]'],
      ['INVALID_SHAPE', '$.edges[1]'],
      ['INVALID_SHAPE', '$.edges[2].to'],
    ],
  },
  {
    name: 'a node without id or type',
    graph: graphOf({ nodes: [{}, note('a'), end], edges: [edge('a', 'end')], start: 'a' }),
    problems: [
      ['INVALID_SHAPE', '$.nodes[0].id'],
      ['INVALID_SHAPE', '$.nodes[0].type'],
    ],
  },
  {
    name: 'a node id that cannot be used',
    graph: graphOf({ nodes: [note('a'), note('b '), end], edges: [edge('a', 'b '), edge('b ', 'end')] }),
    problems: [['INVALID_SHAPE', '$.nodes[1].id']],
  },
  {
    name: 'a field that its type does not have',
    graph: around({ id: 'c', type: 'condition', config: { if: 'input.ok' }, retry: { maxAttempts: 2 } }, [
      'true',
      'false',
    ]),
    problems: [['INVALID_SHAPE', '$.nodes[1].retry']],
  },
  {
    name: 'an end with an input',
    graph: graphOf({ nodes: [note('a'), note('b'), { ...end, input: { a: '1' } }] }),
    problems: [['INVALID_SHAPE', '$.nodes[2].input']],
  },
  {
    name: 'a key __proto__ in a mapping',
    graph: graphOf({ nodes: [note('a', { input: JSON.parse('{"__proto__": {"evil": "true"}}') }), note('b'), end] }),
    problems: [['INVALID_SHAPE', '$.nodes[0].input.__proto__']],
  },
  {
    name: 'a value that is no JSON',
    graph: graphOf({ nodes: [note('a', { input: { at: new Date(0) } }), note('b'), end] }),
    problems: [['INVALID_SHAPE', '$']],
  },
  {
    name: 'an actor that there is not',
    graph: graphOf({ settings: { actor: 'root' } }),
    problems: [['INVALID_SHAPE', '$.settings.actor']],
  },
  {
    name: 'more stage runs than the module allows',
    graph: graphOf({ settings: { limits: { maxStageRuns: 100_000 } } }),
    problems: [['INVALID_SHAPE', '$.settings.limits.maxStageRuns']],
  },
  {
    name: 'an input that is no object',
    graph: graphOf({ input: { type: 'string' } }),
    problems: [['INVALID_SHAPE', '$.input.type']],
  },
  {
    name: 'an input with a keyword of JSON Schema that there is not',
    graph: graphOf({ input: { type: 'object', properties: { a: { type: 'string', pattern: '(a+)+$' } } } }),
    problems: [['INVALID_SHAPE', '$.input.properties.a.pattern']],
  },
  {
    name: 'durations that are none, and a number',
    graph: graphOf({
      settings: { deadline: 'soon', retry: { backoff: ['10s', '10 parsecs'] } },
      nodes: [note('a', { timeout: '0s' }), note('b', { timeout: 5_000 }), end],
    }),
    problems: [
      ['INVALID_DURATION', '$.nodes[0].timeout'],
      ['INVALID_SHAPE', '$.nodes[1].timeout'],
      ['INVALID_DURATION', '$.settings.deadline'],
      ['INVALID_DURATION', '$.settings.retry.backoff[1]'],
    ],
  },
  {
    name: 'a duration of months',
    graph: graphOf({ nodes: [note('a', { timeout: '2 months' }), note('b'), end] }),
    problems: [['INVALID_DURATION', '$.nodes[0].timeout']],
  },
  {
    name: 'a retry policy out of its ranges',
    graph: graphOf({
      nodes: [
        note('a', { retry: { maxAttempts: 0, jitter: 2 } }),
        note('b', { retry: { backoff: { base: '1s', factor: 0 } } }),
        end,
      ],
    }),
    problems: [
      ['INVALID_SHAPE', '$.nodes[0].retry.maxAttempts'],
      ['INVALID_SHAPE', '$.nodes[0].retry.jitter'],
      ['INVALID_SHAPE', '$.nodes[1].retry'],
    ],
  },
  {
    name: 'two nodes of one id',
    graph: graphOf({
      nodes: [note('a'), note('b'), note('B'), end],
      edges: [edge('a', 'b'), edge('b', 'B'), edge('B', 'end')],
    }),
    problems: [['DUPLICATE_ID', '$.nodes[2].id']],
  },
  {
    name: 'types that there are not',
    graph: graphOf({
      nodes: [
        note('a', { type: 'aproval' }),
        note('b', { type: '__proto__' }),
        { ...note('c'), type: 'toString' },
        end,
      ],
      edges: [edge('a', 'b'), edge('b', 'c'), edge('c', 'end')],
    }),
    problems: [
      ['UNKNOWN_TYPE', '$.nodes[0].type'],
      ['INVALID_SHAPE', '$.nodes[1].type'],
      ['UNKNOWN_TYPE', '$.nodes[2].type'],
    ],
  },
];
