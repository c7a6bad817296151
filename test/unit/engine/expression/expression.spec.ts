import { fc } from '../../../support/properties.js';
import { decodeJson, encodeJson } from '../../../../lib/engine/codec/index.js';
import {
  compileExpression,
  EXPRESSION_LIMITS,
  ExpressionValues,
  type ExpressionInputs,
  type ExpressionResult,
  type ExpressionScope,
} from '../../../../lib/engine/expression/index.js';
import { InvalidExpressionError } from '../../../../lib/errors/index.js';

const SCOPE: ExpressionScope = {
  variables: ['input', 'subject', 'owner', 'actor', 'now', 'approvers'],
  outputs: true,
};
const TYPED: ExpressionScope = {
  ...SCOPE,
  input: {
    amount: 'double',
    any: 'dyn',
    name: 'string',
    ok: 'bool',
    tags: 'list<string>',
    order: { total: 'double', by: 'string' },
    people: [{ name: 'string' }],
  },
};
const outputs = (of: Record<string, unknown>) => (node: string) => new Map(Object.entries(of)).get(node);
const VALUES: ExpressionInputs = {
  input: {
    amount: 1200,
    half: 1200.5,
    zero: 0,
    items: [1, 2, 3],
    name: 'x',
    order: { total: 3 },
    nothing: null,
    big: 9007199254740991,
  },
  subject: { stage: 'open' },
  owner: { id: 'o1' },
  actor: null,
  now: new Date('2026-01-01T00:00:00Z'),
  outputOf: outputs({ review: { score: 7, tags: [] }, zero: 0 }),
};

const ask = (text: string, gives: ExpressionResult = 'value', inputs = VALUES, scope = SCOPE) =>
  compileExpression(text, scope, gives).evaluate(new ExpressionValues(inputs));

/** A value as it comes out of the database: -0 is kept. */
const stored = (value: unknown): unknown => decodeJson(encodeJson(value));

function refusal(text: unknown, scope = SCOPE, gives: ExpressionResult = 'value'): InvalidExpressionError {
  try {
    compileExpression(text, scope, gives);
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidExpressionError);
    return error as InvalidExpressionError;
  }
  throw new Error(`${String(text)} was not refused`);
}

describe('an expression', () => {
  it.each<[string, unknown]>([
    ['input.amount >= 1000', true],
    ['input.half >= 1000', true],
    ['input.amount >= 1000.0', true],
    ['input.half > input.amount', true],
    ['input.amount == 1200 && input.amount == 1200.0', true],
    ['input.half == 1200', false],
    ['input.amount in [1200, 5]', true],
    ['input.amount + 1', 1201],
    ['input.amount / 7 > 171', true],
    ['size(input.items) + 0.5', 3.5],
    ['input.amount - 200 * 2', 800],
    ['-input.amount', -1200],
    ['input.big', 9007199254740991],
    ['input.items[input.zero]', 1],
    ['input.items.map(x, x * 2)', [2, 4, 6]],
    ['input.items.filter(x, x > 1)', [2, 3]],
    ['int(input.half)', 1200],
    ['"no. " + string(input.amount)', 'no. 1200'],
    ['input', VALUES.input],
    ['input.nothing', null],
    ['actor == null', true],
    ['owner.id + "/" + subject.stage', 'o1/open'],
    ['output("review").score > 5', true],
    ['output("zero") == 0', true],
    ['output("skipped")', null],
    ['has(output("review").score)', true],
    ['has(output("review").nope) || has(output("skipped").score)', false],
    ['output( "review" ).score == 7 && output("zero") == 0', true],
    ['input.items.map(x, x + output("review").score)', [8, 9, 10]],
    ['output("skipped") != null ? output("skipped").score : 1', 1],
    ['{"a": 1, "b": [input.amount, {"c": null}]}', { a: 1, b: [1200, { c: null }] }],
    ['now', '2026-01-01T00:00:00.000Z'],
    ['now + duration("36h")', '2026-01-02T12:00:00.000Z'],
    ['"since " + string(now)', 'since 2026-01-01T00:00:00.000Z'],
    ['timestamp(string(dyn(now))) == now', true],
    ['now < timestamp("2026-02-01T00:00:00Z")', true],
    ['input.items.exists(input, input == 3)', true],
  ])('GRAPH-3: %s gives %j', (text, value) => {
    expect(ask(text)).toEqual({ ok: true, value });
  });

  it.each<[string, string]>([
    ['input.missing', 'No such key: missing, at input.missing; has(input.missing) asks'],
    ['input.order.by.id', 'at input.order.by;'],
    ['input.items.map(x, x.id)', 'at x.id;'],
    ['output("review").points > 1', 'at output("review").points;'],
    ['output("skipped").score', 'No such key: score'],
    ['input["missing"]', 'No such key: missing'],
    ['input.items[7]', 'index out of bounds'],
    ['input.name > 5', 'no such overload'],
    ['1 / int(input.zero)', 'division by zero'],
    ['string(timestamp("9999-12-31T00:00:00Z") + duration("99999999h"))', 'it is no instant that can be stored'],
    ['input.amount / input.zero', 'it gave no value that JSON holds'],
  ])('GRAPH-3: %s gives nothing, and says why', (text, problem) => {
    expect(ask(text)).toEqual({ ok: false, problem: expect.stringContaining(problem) });
  });

  it.each<[ExpressionResult, string, unknown]>([
    ['bool', 'input.ok', undefined],
    ['bool', 'input.amount', undefined],
    ['list', 'input.items', [1, 2, 3]],
    ['list', 'input.name', undefined],
    ['count', 'size(input.items)', 3],
    ['count', 'input.amount', 1200],
    ['count', 'input.half', undefined],
    ['count', '-input.amount', undefined],
    ['text', 'input.name', 'x'],
    ['text', 'input.amount', undefined],
    ['instant', 'now', '2026-01-01T00:00:00.000Z'],
    ['instant', '"2026-05-01T10:00:00+02:00"', '2026-05-01T10:00:00+02:00'],
    ['instant', '"2026-05-01T10:00:00"', undefined],
    ['instant', '"2026-13-01T10:00:00Z"', undefined],
    ['instant', 'input.name', undefined],
  ])('GRAPH-3: asked for %s, %s gives %j', (gives, text, value) => {
    const answer = ask(text, gives);
    expect(answer.ok ? answer.value : undefined).toEqual(value);
  });

  it.each<[string, string, string]>([
    ['input.amount >=', '16', 'EOF'],
    ['inptu.amount', '1', 'Unknown variable: inptu; a text stands in quotes'],
    ['event.amount', '1', 'there is no event here; there is: input, subject'],
    ['output(input.name)', '1', 'written out'],
    ['output()', '1', 'output() takes 1'],
    ['input.name.matches("(a+)+$")', '12', 'there is no matches()'],
    ['{"__proto__": 1}', '1', '__proto__'],
    ['output("review").score + input.items.map(_o0, _o0)', '42', 'the name _o0 is taken'],
    ['output("review").score >\n output("a") + nope', '2:16', 'Unknown variable: nope'],
    ['duration("1h")', '1', 'it gives google.protobuf.Duration'],
    ['b"abc"', '1', 'bytes'],
  ])('GRAPH-3: %s is refused at %s', (text, place, message) => {
    const { params } = refusal(text);
    expect(params.message).toContain(message);
    if (!message.startsWith('it gives') && message !== 'bytes') expect(params.place).toBe(place);
  });

  it.each<[string, string]>([
    ['input.amuont > 5', 'No such key: amuont'],
    ['input.order.totl', 'No such key: totl'],
    ['input.name > 5', 'string > int'],
    ['input.ok + 1', 'bool + int'],
    ['input.tags.exists(t, t == 5)', 'string == int'],
    ['input + 1', 'no such overload: input + int'],
  ])('GRAPH-2: %s does not fit the types of the input', (text, message) => {
    expect(refusal(text, TYPED).params.message).toContain(message);
    expect(() => compileExpression(text, SCOPE, 'value')).not.toThrow();
  });

  it.each([
    'input.amount > 5 ? input.amount : 0',
    'input.order.total + 0.5 > 1',
    'has(input.order.by)',
    'input.tags.exists(t, t.startsWith("a")) || input.name in ["a"]',
    'input.ok && input.amount in [1, 2.5]',
    'output("x").y == input.name',
  ])('GRAPH-2: %s fits the types of the input', (text) => {
    expect(() => compileExpression(text, TYPED, 'value')).not.toThrow();
  });

  it('GRAPH-2: what is asked for is checked against known types', () => {
    expect(refusal('input.name', TYPED, 'bool').params.message).toBe('it gives string, not true or false');
    expect(refusal('"x"', SCOPE, 'list').params.message).toBe('it gives string, not a list');
    expect(refusal('input.amount', TYPED, 'bool').params.message).toBe('it gives a number, not true or false');
    expect(() => compileExpression('input.any', TYPED, 'bool')).not.toThrow();
  });

  it('GRAPH-3: where nothing is there, constants are', () => {
    const nothing: ExpressionScope = { variables: [], outputs: false };
    expect(refusal('now', nothing).params.message).toContain('nothing, write constants');
    expect(refusal('output("a")', nothing).params.message).toBe('there is no output() here');
    expect(ask('"a" + "b"', 'value', {}, nothing)).toEqual({ ok: true, value: 'ab' });
  });

  it('GRAPH-3: names what it reads, each once, and not what a loop of its own names', () => {
    const expression = compileExpression('output("a").x + output("b") + output("a").y', SCOPE, 'value');
    expect(expression.outputs).toEqual(['a', 'b']);
    const named = (text: string) => compileExpression(text, SCOPE, 'value').approvers;
    expect(named('approvers.cfo + approvers.leads + approvers.cfo')).toEqual(['cfo', 'leads']);
    expect(named('size(approvers) > 0')).toEqual([undefined]);
    expect(named('input.items.map(approvers, approvers.x)')).toEqual([]);
    const texts = (text: string) => compileExpression(text, SCOPE, 'value').constantTexts;
    expect(texts('["u1", "u2"]')).toEqual(['u1', 'u2']);
    expect(texts('["u1", input.name]')).toBeNull();
  });

  it('GRAPH-3: what an evaluation may cost is bounded before it begins, by the values it names only', () => {
    const input = { items: Array.from({ length: 3_000 }, (_, at) => at), small: [1] };
    const inputs = { input, subject: { big: Array.from({ length: 100_000 }, () => 'x') } };
    const quadratic = 'input.items.all(a, input.items.exists(b, a == b))';
    expect(ask(quadratic, 'bool', inputs)).toEqual({ ok: false, problem: expect.stringContaining('too large for it') });
    expect(ask('input.items.all(a, a >= 0)', 'bool', inputs)).toEqual({ ok: true, value: true });
    expect(
      ask('input.small.all(a, input.small.all(b, a == b))', 'bool', {
        input: { small: [1] },
        ...{ subject: inputs.subject },
      }).ok,
    ).toBe(true);
  });

  it('GRAPH-3: a text is bounded in length, parts and levels', () => {
    expect(refusal(`"${'x'.repeat(EXPRESSION_LIMITS.maxLength)}"`).params.message).toContain('over 2000');
    expect(refusal(Array(300).fill('1').join('+')).params.message).toContain('maxAstNodes');
    expect(refusal(`${'('.repeat(60)}1${')'.repeat(60)}`).params.message).toContain('maxDepth');
    for (const text of [undefined, null, 5, {}, [], '', ' ', 'input.a == "\0"']) refusal(text);
  });

  it('FAULT A11: keys are keys, and nothing of JavaScript shows', () => {
    const input = JSON.parse('{"__proto__": {"evil": true}, "constructor": 7}') as unknown;
    expect(ask('input.constructor', 'value', { input })).toEqual({ ok: true, value: 7 });
    expect(ask('input.toString', 'value', { input }).ok).toBe(false);
    expect(ask('output("constructor")', 'value', { outputOf: outputs({}) })).toEqual({ ok: true, value: null });
    const answer = ask('input', 'value', { input });
    expect(answer.ok && JSON.stringify(answer.value)).toBe('{"__proto__":{"evil":true},"constructor":7}');
    expect(({} as Record<string, unknown>).evil).toBeUndefined();
  });

  it('GRAPH-3: an evaluation never throws, and gives JSON', () => {
    const texts = [
      'input',
      'input.a',
      'input[0]',
      'size(input)',
      'input.a + 1',
      'input.map(x, x)',
      '[input, input]',
      'output("a")',
    ];
    fc.assert(
      fc.property(fc.constantFrom(...texts), fc.jsonValue(), (text, input) => {
        const answer = ask(text, 'value', { input, outputOf: outputs({ a: input }) });
        if (answer.ok) expect(stored(answer.value)).toEqual(answer.value);
        else expect(answer.problem.length).toBeGreaterThan(3);
        if (text === 'input') expect(answer).toEqual({ ok: true, value: stored(input) });
      }),
      { numRuns: 500 },
    );
  });

  it('GRAPH-3: values that are no data are told, not met', () => {
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    expect(ask('input', 'value', { input: cyclic }).ok).toBe(false);
    expect(ask('now', 'value', {}).ok).toBe(false);
    expect(ask('1 + 1', 'value', { input: cyclic })).toEqual({ ok: true, value: 2 });
  });
});
