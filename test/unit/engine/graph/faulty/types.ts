import { askingAfter, askingInLoop, TYPED_INPUT } from '../typed-input.js';
import { around, edge, end, type FaultyGraph, graphOf, note } from './faulty-graph.js';

const input = { input: TYPED_INPUT };
const fault = (path: string) => ['INVALID_EXPRESSION', path] as const;

/** One expression that is asked for true or false. */
const bad = (name: string, text: string): FaultyGraph => ({
  name,
  graph: around({ id: 'c', type: 'condition', config: { if: text } }, ['true', 'false'], input),
  problems: [fault('$.nodes[1].config.if')],
});
/** The same, after stages whose outputs are known. */
const badAfter = (name: string, text: string): FaultyGraph => ({
  name,
  graph: askingAfter(text),
  problems: [fault('$.nodes[2].config.if')],
});
const badInLoop = (name: string, text: string, config?: object): FaultyGraph => ({
  name,
  graph: askingInLoop(text, config),
  problems: [fault('$.nodes[6].config.if')],
});
const wait = (name: string, config: object, at: string): FaultyGraph => ({
  name,
  graph: around({ id: 'w', type: 'wait', config }, [undefined], input),
  problems: [fault(`$.nodes[1].config.${at}`)],
});
const loop = (name: string, config: object): FaultyGraph => ({
  name,
  graph: graphOf({
    ...input,
    nodes: [{ id: 'l', type: 'loop', config }, note('b'), end],
    edges: [edge('l', 'b', 'each'), edge('b', 'l'), edge('l', 'end')],
  }),
  problems: [fault(`$.nodes[0].config.${Object.keys(config)[0]}`)],
});

/** What the types of the input, or of what is written out, say against an expression. */
export const TYPES: readonly FaultyGraph[] = [
  bad('a condition that is a number of the input', 'input.amount'),
  bad('a condition that is a whole number of the input', 'input.count'),
  bad('a condition that is one of some texts', 'input.kind'),
  bad('a condition that is one of some numbers', 'input.level'),
  bad('a condition that is an object of the input', 'input.order'),
  bad('a condition that is a list of the input', 'input.people'),
  bad('a condition that is a sum', 'input.amount + 1'),
  bad('a number that is denied', '!input.amount'),
  bad('a number beside a condition', 'input.ok && input.amount'),
  bad('a number that decides', 'input.amount ? true : false'),
  bad('a number that is asked of each item', 'input.people.exists(p, p.age)'),
  bad('a number of each item that is asked', 'input.amounts.all(n, n)'),
  bad('a number that is compared with a text', 'input.amount == "5"'),
  bad('a number among texts', 'input.amount in ["5"]'),
  bad('a number that is added to a text', 'input.name + input.amount == "x5"'),
  bad('a number that is called as a text', 'input.amount.startsWith("5")'),
  bad('a number that has fields', 'input.amount.value > 5'),
  bad('a place in a text that is no whole number to CEL', 'input.name.substring(input.count) == "x"'),
  bad('a field that the items of a list do not have', 'input.people.all(p, p.nam == "x")'),
  bad('a field that one item of a list does not have', 'input.people[0].nam == "x"'),
  bad('a field by its name in brackets', 'input["amuont"] > 5'),
  bad('a field of an object that may have none', 'input.nothing.id == 5'),
  bad('a fault beside what types say nothing of', '(input.ok ? input.amount : 0) > 5 && input.nosuch'),
  bad('a fault beside a number among numbers', 'input.amount in [1, 2] && input.order.nosuch == 1'),
  bad('a number that is divided by nothing', '1 / 0 > 1'),
  badAfter('a condition that is the output of a stage, an object', 'output("r")'),
  badAfter('a condition that is a number of an output', 'output("r").score'),
  badAfter('a condition that is a number of an output, and one of the input', 'input.ok && output("r").score'),
  badAfter('a field that an output does not have', 'output("r").scroe > 5'),
  badAfter('a field that the items of an output do not have', 'output("r").rows.exists(row, row.ID == "x")'),
  badAfter('a field of an output that is true or false', 'output("f").good'),
  badAfter('outputs that do not compare', 'output("f") == output("r").score'),
  badAfter('a field of the input that there is not, beside outputs', 'output("f") || input.nosuch'),
  badInLoop('a condition that is the turn of a loop', 'output("l")'),
  badInLoop('a condition that is the index of a turn', 'output("l").index'),
  badInLoop('a field that no turn has', 'output("l").indx > 0'),
  badInLoop('a field that the items of a loop do not have', 'output("l").item.nam == "x"'),
  badInLoop('a number of an item that is asked', 'output("l").item.age'),
  badInLoop('an item of numbers that has fields', 'output("l").item.age > 5', { forEach: ' input.amounts ' }),
  badInLoop('an item of a loop that counts', 'output("l").item == 1', { count: 3 }),
  badInLoop('a condition that is a branch', 'output("b")'),
  badInLoop('a condition that is a parallel node', 'output("p")'),
  badInLoop('a condition that has fields', 'output("c").result'),
  wait('a wait for a condition that is a number', { condition: 'input.amount' }, 'condition'),
  wait('a wait until a number', { until: 'input.amount' }, 'until'),
  wait('a wait until true', { until: 'input.ok' }, 'until'),
  wait('a wait until a day without its time', { until: '"2030-01-01"' }, 'until'),
  wait('a wait until a day that there is not', { until: 'timestamp("2030-13-01T00:00:00Z")' }, 'until'),
  wait('a wait for a key that is a number', { event: { key: 'input.count' } }, 'event.key'),
  wait('a where that is a sum', { event: { key: '"a"', where: 'size(event) + 1' } }, 'event.where'),
  loop('a loop over a number of the input', { forEach: 'input.amount' }),
  loop('a loop over an object of the input', { forEach: 'input.order' }),
  loop('a loop while there is a number', { while: 'input.amount' }),
  loop('as many turns as a text', { count: 'input.name' }),
  loop('fewer turns than none', { count: '2 - 5' }),
  loop('half a turn', { count: '0.5' }),
  {
    name: 'numbers in every place that wants something else',
    graph: graphOf({
      ...input,
      nodes: [
        note('a', { when: 'input.amount' }),
        { id: 'b', type: 'branch', config: { cases: [{ outcome: 'x', if: 'input.amount' }] } },
        {
          id: 'p',
          type: 'parallel',
          config: { join: 'taken', branches: [{ outcome: 'q', when: 'input.count' }, { outcome: 'r' }] },
        },
        note('q'),
        note('r'),
        {
          id: 's',
          type: 'approval',
          config: { stages: [{ approvers: 'input.amount' }, { approvers: 'approvers.cfo' }] },
          when: 'input.level',
          escalations: [{ after: '1h', action: { type: 'reassign', to: 'input.amount' } }],
        },
        { id: 'e', type: 'emit_event', config: { key: 'input.amount' } },
        {
          id: 'f',
          type: 'start_workflow',
          config: { workflow: 'refund', subject: { type: 'order', id: 'input.count' } },
        },
        { id: 't', type: 'transition', config: { to: 'open', reason: 'input.amount' } },
        end,
      ],
      edges: [
        edge('a', 'b'),
        edge('b', 'p', 'x'),
        edge('b', 'p', 'else'),
        edge('p', 'q', 'q'),
        edge('q', 'p'),
        edge('p', 'r', 'r'),
        edge('r', 'p'),
        edge('p', 's'),
        edge('s', 'e', 'approved'),
        edge('s', 'e', 'rejected'),
        edge('s', 'e', 'skipped'),
        edge('e', 'f'),
        edge('f', 't'),
        edge('t', 'end'),
      ],
    }),
    problems: [
      fault('$.nodes[0].when'),
      fault('$.nodes[1].config.cases[0].if'),
      fault('$.nodes[2].config.branches[0].when'),
      fault('$.nodes[5].config.stages[0].approvers'),
      fault('$.nodes[5].when'),
      fault('$.nodes[5].escalations[0].action.to'),
      fault('$.nodes[6].config.key'),
      fault('$.nodes[7].config.subject.id'),
      fault('$.nodes[8].config.reason'),
    ],
  },
  {
    name: 'constants of triggers that give nothing',
    graph: graphOf({
      triggers: [
        { id: 'a', type: 'schedule', cron: '0 9 * * *', input: { at: 'timestamp("tomorrow")' } },
        { id: 'b', type: 'event', on: 'x', where: '1 % 0 == 1', key: '"abc".substring(4)' },
      ],
    }),
    problems: [fault('$.triggers[0].input.at'), fault('$.triggers[1].where'), fault('$.triggers[1].key')],
  },
];
