import { Environment } from '@marcbachmann/cel-js';
import { isStoredDate } from '../codec/index.js';
import { boundName, MAX_OUTPUTS } from './bound-outputs.js';
import { EXPRESSION_LIMITS } from './expression-limits.js';
import { EXPRESSION_VARIABLES, type FieldType, type InputShape } from './expression-scope.js';

type Arithmetic = (left: number, right: number) => number;

const ARITHMETIC: Readonly<Record<string, Arithmetic>> = {
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => left / right,
  '%': (left, right) => left % right,
};

/** An instant as JSON has it, and a store can keep it. */
function textOf(instant: Date): string {
  if (!isStoredDate(instant)) throw new Error('it is no instant that can be stored');
  return instant.toISOString();
}

/**
 * CEL with our variables, of types that are only known at run time but for `now`; which of them are there, the scope says.
 * `output()` is only parsed: variables take its place before anything is evaluated.
 *
 * A JSON number is a double, the literal 5 is an int, and CEL mixes the two in comparisons only. Here they mix in
 * arithmetic too, the int becoming a double: nobody who writes `event.amount + 1 == 6` thinks of types.
 */
function createEnvironment(): Environment {
  const { maxNodes, maxDepth } = EXPRESSION_LIMITS;
  const environment = new Environment({
    homogeneousAggregateLiterals: false,
    limits: { maxAstNodes: maxNodes, maxDepth },
  })
    .registerFunction('output(string): dyn', () => null)
    .registerFunction('string(google.protobuf.Timestamp): string', textOf);
  for (const name of EXPRESSION_VARIABLES) {
    if (name !== 'input') environment.registerVariable(name, name === 'now' ? 'google.protobuf.Timestamp' : 'dyn');
  }
  for (const [operator, compute] of Object.entries(ARITHMETIC)) {
    environment
      .registerOperator(`double ${operator} int`, (left: number, right: bigint) => compute(left, Number(right)))
      .registerOperator(`int ${operator} double: double`, (left: bigint, right: number) =>
        compute(Number(left), right),
      );
  }
  return environment
    .registerOperator('double % double', ARITHMETIC['%']!)
    .registerOperator('int == double', (left: bigint, right: number) => Number(left) === right);
}

/** All but `input` and outputs. */
const base = createEnvironment();

/** The environment that evaluates: `input` and outputs are whatever they are. */
export const CEL = base.clone().registerVariable('input', 'dyn');
for (let at = 0; at < MAX_OUTPUTS; at += 1) CEL.registerVariable(boundName(at), 'dyn');

/** What is known of the values that expressions read: of `input`, and of outputs, each bound by its place here. */
export interface TypedValues {
  readonly input: FieldType;
  readonly outputs: readonly FieldType[];
}

/**
 * An environment that only checks, against what values are known to look like.
 *
 * @param numbers `double`: as they are told from whole ones of a text, `dyn`: as if they were anything
 */
export function typedCel({ input, outputs }: TypedValues, numbers: 'double' | 'dyn'): Environment {
  const environment = base.clone();
  /** Nodes of one stage give the same, which is registered once: a type takes longer the more there are. */
  const named = new Map<FieldType, string>();
  let objects = 0;
  /** The name of a field in that of its type, which the library reads: fields may be named as they like. */
  const plain = (field: string): string =>
    /^\w+$/.test(field) ? field : `${field.replace(/\W/g, '_')}-${(objects += 1)}`;
  const typeOf = (type: FieldType, name: string): string => {
    if (typeof type === 'string') return type.replace('double', numbers);
    const there = named.get(type);
    if (there !== undefined) return there;
    const [item] = isListOf(type) ? type : [];
    const fields = Object.entries(item ?? (type as InputShape)).map(
      ([field, one]) => [field, typeOf(one, `${name}.${plain(field)}`)] as const,
    );
    environment.registerType(name, { schema: Object.fromEntries(fields) } as never);
    const given = item === undefined ? name : `list<${name}>`;
    named.set(type, given);
    return given;
  };
  environment.registerVariable('input', typeOf(input, `${OBJECT}input`));
  outputs.forEach((type, at) => environment.registerVariable(boundName(at), typeOf(type, `${OBJECT}output${at}`)));
  return environment;
}

/** What the names of types begin with that stand for objects of a known look. */
export const OBJECT = '$';

function isListOf(type: FieldType): type is readonly [InputShape] {
  return Array.isArray(type);
}
