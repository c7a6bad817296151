import { fc } from '../../../support/properties.js';
import {
  compileExpression,
  ExpressionValues,
  type Expression,
  type ExpressionScope,
  type InputShape,
} from '../../../../lib/engine/expression/index.js';

const SHAPE: InputShape = {
  n: 'double',
  s: 'string',
  ok: 'bool',
  numbers: 'list<double>',
  texts: 'list<string>',
  people: [{ name: 'string', age: 'double' }],
  order: { total: 'double', by: 'string' },
  way0: 'bool',
  way1: 'bool',
  way2: 'bool',
  way3: 'bool',
};

const INPUT = {
  n: 1,
  s: '1',
  ok: true,
  numbers: [1, 2],
  texts: ['1', 'b'],
  people: [{ name: '1', age: 1 }],
  order: { total: 1, by: 'b' },
};

/** Fields that decide between two values, each of one place of its own, so that inputs go all ways. */
const WAYS = ['way0', 'way1', 'way2', 'way3'];
const INPUTS = Array.from({ length: 2 ** WAYS.length }, (_, bits) => ({
  ...INPUT,
  ...Object.fromEntries(WAYS.map((way, at) => [way, (bits & (1 << at)) !== 0])),
}));

type Kind = 'number' | 'text' | 'bool' | 'list' | 'object';

/** An expression, and what its writer takes it for. */
interface Written {
  readonly text: string;
  readonly kind: Kind;
}

const written = (text: string, kind: Kind): Written => ({ text, kind });
const LEAVES = [
  ...['input.n', 'input.order.total', 'input.numbers[0]', '1', '2.5', 'size(input.texts)'].map((text) =>
    written(text, 'number'),
  ),
  ...['input.s', 'input.order.by', 'input.people[0].name', '"1"'].map((text) => written(text, 'text')),
  ...['input.ok', 'true'].map((text) => written(text, 'bool')),
  ...['input.numbers', 'input.texts', 'input.people', '[1]', '["1"]'].map((text) => written(text, 'list')),
  ...['input.order', 'input.people[0]', '{"total": 1}'].map((text) => written(text, 'object')),
];

const isWhole = ({ kind }: Written): boolean => kind === 'list' || kind === 'object';

/** Two that CEL compares: of one kind, or wholes. That others never are equal, the checker may say, and nothing fails. */
const compare = (operator: string, a: Written, b: Written): Written =>
  a.kind === b.kind || (isWhole(a) && isWhole(b))
    ? written(`(${a.text} ${operator} ${b.text})`, 'bool')
    : written(`(${a.text} ${operator} null)`, 'bool');

const { any } = fc.letrec<{ any: Written }>((tie) => {
  const one = tie('any');
  const two = fc.tuple(one, one);
  return {
    any: fc.oneof(
      { depthSize: 'small', withCrossShrink: true, maxDepth: 3 },
      fc.constantFrom(...LEAVES),
      fc.tuple(fc.constantFrom('==', '!='), two).map(([operator, [a, b]]) => compare(operator, a, b)),
      two.map(([a, b]) => written(`(${a.text} in [${b.kind === a.kind ? b.text : a.text}])`, 'bool')),
      // An empty list only where nothing goes through it, and so leaves out what fails.
      one.map((a) => written(`(${a.text} ${isWhole(a) ? '==' : 'in'} [])`, 'bool')),
      two.map(([a, b]) => written(`(${a.text} in {${a.text}: ${b.text}})`, 'bool')),
      fc
        .tuple(fc.constantFrom('+', '-', '*', '/', '%'), two)
        .map(([operator, [a, b]]) => written(`(${a.text} ${operator} ${b.text})`, a.kind)),
      fc
        .tuple(fc.constantFrom('<', '>='), two)
        .map(([operator, [a, b]]) => written(`(${a.text} ${operator} ${b.text})`, 'bool')),
      two.map(([a, b]) => written(`(input.way ? ${a.text} : ${b.text})`, a.kind)),
      two.map(([a, b]) => written(`[${a.text}, ${b.text}]`, 'list')),
      two.map(([a, b]) => written(`{"a": ${a.text}, "b": ${b.text}}`, 'object')),
      two.map(([a, b]) => written(`${a.text}.map(x, ${b.text})`, 'list')),
      one.map(({ text }) => written(`${text}.filter(x, x == x)`, 'list')),
      one.map(({ text }) => written(`${text}.exists(x, x)`, 'bool')),
      one.map(({ text }) => written(`!${text}`, 'bool')),
      one.map(({ text }) => written(`size(${text})`, 'number')),
      one.map(({ text }) => written(`${text}.size()`, 'number')),
      one.map(({ text }) => written(`string(${text})`, 'text')),
      one.map(({ text }) => written(`"abc".substring(${text})`, 'text')),
      one.map(({ text }) => written(`${text}.name`, 'text')),
      one.map(({ text }) => written(`input.numbers[${text}]`, 'number')),
    ),
  };
});

const OPEN: ExpressionScope = { variables: ['input'], outputs: false };
const TYPED: ExpressionScope = { ...OPEN, input: SHAPE };

function compiled(text: string, scope: ExpressionScope): Expression | null {
  try {
    return compileExpression(text, scope, 'value');
  } catch {
    return null;
  }
}

describe('the types of an input', () => {
  it('GRAPH-2: refuse nothing that goes well with every input of that shape', () => {
    let refused = 0;
    fc.assert(
      fc.property(any, (one) => {
        let ways = 0;
        const text = one.text.replace(/input\.way /g, () => `input.way${ways++} `);
        const expression = compiled(text, OPEN);
        if (expression === null || compiled(text, TYPED) !== null) return;
        refused += 1;
        const answers = INPUTS.map((input) => expression.evaluate(new ExpressionValues({ input })));
        expect(answers.filter(({ ok }) => !ok)).not.toEqual([]);
      }),
      { numRuns: 3_000 },
    );
    expect(refused).toBeGreaterThan(100);
  });
});
