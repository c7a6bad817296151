import { Environment } from '@marcbachmann/cel-js';
import { EXPRESSION_LIMITS } from './expression-limits.js';

type Arithmetic = (left: number, right: number) => number;

const ARITHMETIC: Readonly<Record<string, Arithmetic>> = {
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => left / right,
  '%': (left, right) => left % right,
};

/**
 * CEL with one variable, `event`, of a type that is only known at run time.
 *
 * A JSON number is a double, the literal 5 is an int, and CEL mixes the two in comparisons only. Here they mix in
 * arithmetic too, the int becoming a double: nobody who writes `event.amount + 1 == 6` thinks of types.
 */
export function createCelEnvironment(): Environment {
  const { maxNodes, maxDepth } = EXPRESSION_LIMITS;
  const environment = new Environment({
    homogeneousAggregateLiterals: false,
    limits: { maxAstNodes: maxNodes, maxDepth },
  }).registerVariable('event', 'dyn');
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
