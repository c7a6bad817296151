import { around, edge, end, type FaultyGraph, graphOf, note } from './faulty-graph.js';

const condition = (text: unknown) => around({ id: 'c', type: 'condition', config: { if: text } }, ['true', 'false']);
const bad = (name: string, text: string): FaultyGraph => ({
  name,
  graph: condition(text),
  problems: [['INVALID_EXPRESSION', '$.nodes[1].config.if']],
});
const loop = (config: object) =>
  graphOf({
    nodes: [{ id: 'l', type: 'loop', config }, note('b'), end],
    edges: [edge('l', 'b', 'each'), edge('b', 'l'), edge('l', 'end')],
  });

export const EXPRESSIONS: readonly FaultyGraph[] = [
  bad('an expression that ends too early', 'input.amount >='),
  bad('an empty expression', ''),
  bad('a condition that is a number', 'size("abc")'),
  bad('a condition that is a text of the input', 'input.name'),
  bad('a variable that there is not', 'inptu.amount > 5'),
  bad('a field that the input does not have', 'input.amuont > 5'),
  bad('types that do not compare', 'input.name > 5'),
  bad('an event where there is none', 'event.amount > 5'),
  bad('approvers where there are none', 'size(approvers.cfo) > 0'),
  bad('a call that takes for ever', 'input.name.matches("(a+)+$")'),
  bad('an output by a name that is not written out', 'output(input.name).x'),
  bad('loops that take too long', `${'[1,2,3,4,5,6,7,8].all(x, '.repeat(9)}true${')'.repeat(9)}`),
  bad('a text that is too long', `input.name == "${'x'.repeat(2_000)}"`),
  bad('too many levels', `${'('.repeat(60)}true${')'.repeat(60)}`),
  {
    name: 'expressions in every place',
    graph: graphOf({
      nodes: [
        note('a', { when: 'input.', input: { x: '1 +', deep: [{ y: 'nope' }, 5] } }),
        { id: 'b', type: 'emit_event', config: { key: 'invoice.paid' }, input: '{' },
        { id: 'end', type: 'end', config: { output: ['input.nope'] } },
      ],
    }),
    problems: [
      ['INVALID_EXPRESSION', '$.nodes[0].when'],
      ['INVALID_EXPRESSION', '$.nodes[0].input.x'],
      ['INVALID_EXPRESSION', '$.nodes[0].input.deep[0].y'],
      ['INVALID_EXPRESSION', '$.nodes[1].config.key'],
      ['INVALID_EXPRESSION', '$.nodes[1].input'],
      ['INVALID_EXPRESSION', '$.nodes[2].config.output[0]'],
    ],
  },
  {
    name: 'a where that speaks of the run',
    graph: around({ id: 'w', type: 'wait', config: { event: { key: '"a"', where: 'event.id == input.name' } } }),
    problems: [['INVALID_EXPRESSION', '$.nodes[1].config.event.where']],
  },
  {
    name: 'the output of a node that there is not',
    graph: condition('output("z").ok'),
    problems: [['UNKNOWN_NODE', '$.nodes[1].config.if']],
  },
  {
    name: 'the output of a node that comes after',
    graph: condition('output("end") == 1'),
    problems: [['OUTPUT_NOT_AVAILABLE', '$.nodes[1].config.if']],
  },
  {
    name: 'the output of the node itself',
    graph: condition('output("c") == true'),
    problems: [['OUTPUT_NOT_AVAILABLE', '$.nodes[1].config.if']],
  },
  {
    name: 'outputs of the other way, of the other branch, and of the fork',
    graph: graphOf({
      nodes: [
        { id: 'p', type: 'parallel', config: { join: 'all', branches: [{ outcome: 'x' }, { outcome: 'y' }] } },
        { id: 's', type: 'acme.score' },
        note('good'),
        note('bad', { when: 'output("good").ok' }),
        note('y', { when: 'output("s").ok', input: { p: 'output("p")' } }),
        { id: 'end', type: 'end', config: { output: ['output("p")', 'output("s")', 'output("bad")', 'output("y")'] } },
      ],
      edges: [
        edge('p', 's', 'x'),
        edge('s', 'good', 'good'),
        edge('s', 'bad', 'bad'),
        edge('good', 'p'),
        edge('bad', 'p'),
        edge('p', 'y', 'y'),
        edge('y', 'p'),
        edge('p', 'end'),
      ],
    }),
    problems: [
      ['OUTPUT_NOT_AVAILABLE', '$.nodes[3].when'],
      ['OUTPUT_NOT_AVAILABLE', '$.nodes[4].when'],
      ['OUTPUT_NOT_AVAILABLE', '$.nodes[4].input.p'],
    ],
  },
  {
    name: 'a loop over a number',
    graph: loop({ forEach: '5' }),
    problems: [['INVALID_EXPRESSION', '$.nodes[0].config.forEach']],
  },
  {
    name: 'a loop of too many turns',
    graph: loop({ count: 1_001 }),
    problems: [['INVALID_CONFIG', '$.nodes[0].config.count']],
  },
  {
    name: 'a loop of too many turns by an expression',
    graph: loop({ count: '2 * 501' }),
    problems: [['INVALID_CONFIG', '$.nodes[0].config.count']],
  },
  {
    name: 'a loop with too high a bound',
    graph: loop({ while: 'true', max: 5_000 }),
    problems: [['INVALID_CONFIG', '$.nodes[0].config.max']],
  },
  { name: 'a loop of no turns', graph: loop({ count: 0 }), problems: [['INVALID_CONFIG', '$.nodes[0].config.count']] },
];
