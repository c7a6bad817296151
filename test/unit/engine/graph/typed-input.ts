import type { Graph } from '../../../../lib/engine/graph/index.js';
import { around } from './faulty/faulty-graph.js';

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
  'has(input.nosuch) || has(input.order.nosuch)',
  'timestamp(input.name) < now',
  'true',
  '1 < 2',
] as const;

/** A graph whose only condition this is. */
export const asking = (text: string) =>
  around({ id: 'c', type: 'condition', config: { if: text } }, ['true', 'false'], { input: TYPED_INPUT });
