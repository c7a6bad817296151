import type { Graph } from '../../../../lib/engine/graph/index.js';
import { around, edge, end, graphOf } from './faulty/faulty-graph.js';

/** An input with a field of every kind. */
export const TYPED_INPUT: NonNullable<Graph['input']> = {
  type: 'object',
  properties: {
    amount: { type: 'number' },
    count: { type: 'integer' },
    name: { type: 'string' },
    ok: { type: 'boolean' },
    kind: { enum: ['a', 'b'] },
    level: { enum: [1, 2, 3] },
    always: { const: true },
    maybe: { type: ['boolean', 'null'] },
    either: { type: ['boolean', 'number'] },
    any: {},
    mixed: { enum: [true, 'yes'] },
    amounts: { type: 'array', items: { type: 'number' } },
    tags: { type: 'array', items: { type: 'string' } },
    people: {
      type: 'array',
      items: { type: 'object', properties: { name: { type: 'string' }, age: { type: 'number' } } },
    },
    order: { type: 'object', properties: { total: { type: 'number' }, by: { type: 'string' } } },
    open: { type: 'object', properties: { total: { type: 'number' } }, additionalProperties: true },
    loose: { type: 'object' },
    nothing: { type: 'object', additionalProperties: false },
    'sum (net, €)': { type: 'object', properties: { value: { type: 'number' } } },
    'sum_(net,_$)': { type: 'object', properties: { value: { type: 'number' } } },
  },
};

/** Conditions on it that a run may well be asked: some types are not known, and some that are don't matter when it runs. */
export const OPEN_CONDITIONS = [
  'input.ok',
  'input.always',
  'input.maybe',
  'input.either',
  'input.any',
  'input.mixed',
  'input.loose',
  'input.loose.ready',
  'input.open.ready',
  'dyn(input.amount)',
  'subject.open',
  'output("a")',
  'input.ok ? input.any : input.ok',
  'output("a").ready || input.ok',
  'input.amount > 5 && input.count >= 2.5 && input.level == 1',
  'input.amount * 2 + 1 > 2.5 * input.count && input.count % 2 == 0 && -input.amount < 0',
  'input.amount == null || input.name != null || input.order == null',
  'input.amount in [1, 2] || 5 in input.amounts || input.amount in input.amounts || input.amount in []',
  'input.amount in {1: "a"} || "total" in input.order || input.order in input.people',
  'input.amounts == [1, 2] || input.amounts + [1] == [2.5] || [input.amount] == [1]',
  'input.order == output("a") || output("a") == input.order || input.order in input.any || input.any != input.people',
  '{"a": input.amount} == {"a": 1} || input.order == {"total": 5} || input.people == []',
  'size(input.order) > 1 || input.order.size() > 1 || input.order.exists(key, key == "by")',
  '(input.ok ? input.amount : 0) > 5 || (input.ok ? input.name : null) == "x"',
  'input.amounts[input.count] > 1 && input.people[0].age > 1',
  'input.people.exists(p, p.age > 5 && p.name == "x") && input.people.map(p, p.age + 1) == [2]',
  'string(input.amount) == "5" && int(input.amount) == 5 && input.name.substring(int(input.count)) == "x"',
  'input["sum (net, €)"].value > 5',
  'has(input.nosuch) || has(input.order.nosuch)',
  'timestamp(input.name) < now',
  'true',
  '1 < 2',
] as const;

/** A graph whose only condition this is. */
export const asking = (text: string) =>
  around({ id: 'c', type: 'condition', config: { if: text } }, ['true', 'false'], { input: TYPED_INPUT });

/** Conditions on the outputs of the stages `r` (acme.rate) and `f` (acme.flag), which may have given nothing. */
export const OPEN_AFTER = [
  'output("f")',
  'output("f") == null || output("f") != null && output("r") == null',
  'output("r").good && output("r").score > 5',
  'output("r") != null ? output("r").good : false',
  'output("r").maybe',
  'output("r").either',
  'output("r").made',
  'output("r").pair[0]',
  'output("r").at == "2030-01-01T00:00:00.000Z"',
  'has(output("r").nosuch) || has(output("r").by)',
  'output("r").rows.exists(row, row.id == input.name)',
  'output("r").more.ready',
  'output("r").all.x > 5',
  'output("f") in [null, true] || output("f") in [null]',
  'output("r") == input.order || output("r").rows == input.people',
  'dyn(output("r")).nosuch',
] as const;

/** Conditions in the body of `l`, a loop over `input.people`, after the condition `c` and the branch `b`. */
export const OPEN_IN_LOOP = [
  'output("l").index > 0 && output("l").index < output("l").count - 1',
  'output("l").item.age > 5 && output("l").item.name == input.name',
  'size(output("l").items) == 3 && output("l").items[0].anything',
  'output("l") != null && has(output("l").item)',
  'output("c") || output("b") == "a" || output("b") == "else"',
  '"x" in output("p").branches',
] as const;

/** A graph that asks this in a loop. */
export const askingInLoop = (text: string, config: object = { forEach: 'input.people' }) =>
  graphOf({
    input: TYPED_INPUT,
    nodes: [
      { id: 'c', type: 'condition', config: { if: 'input.ok' } },
      { id: 'b', type: 'branch', config: { cases: [{ outcome: 'a', if: 'input.ok' }] } },
      { id: 'p', type: 'parallel', config: { join: 'all', branches: [{ outcome: 'x' }, { outcome: 'y' }] } },
      { id: 'x', type: 'acme.note' },
      { id: 'y', type: 'acme.note' },
      { id: 'l', type: 'loop', config },
      { id: 'd', type: 'condition', config: { if: text } },
      end,
    ],
    edges: [
      ...[edge('c', 'b', 'true'), edge('c', 'b', 'false'), edge('b', 'p', 'a'), edge('b', 'p', 'else')],
      ...[edge('p', 'x', 'x'), edge('p', 'y', 'y'), edge('x', 'p'), edge('y', 'p'), edge('p', 'l')],
      ...[edge('l', 'd', 'each'), edge('d', 'l', 'true'), edge('d', 'l', 'false'), edge('l', 'end')],
    ],
  });

/** A graph whose only condition this is, after stages whose outputs are known. */
export const askingAfter = (text: string) =>
  graphOf({
    input: TYPED_INPUT,
    nodes: [
      { id: 'r', type: 'acme.rate' },
      { id: 'f', type: 'acme.flag', when: 'input.ok' },
      { id: 'c', type: 'condition', config: { if: text } },
      end,
    ],
    edges: [edge('r', 'f'), edge('f', 'c'), edge('c', 'end', 'true'), edge('c', 'end', 'false')],
  });
