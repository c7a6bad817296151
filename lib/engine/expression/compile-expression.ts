import { InvalidExpressionError } from '../../errors/index.js';
import { cleanText } from '../codec/clean-text.js';
import { checkExpression } from './checked-expression.js';
import { Expression } from './expression.js';
import type { ExpressionResult } from './expression-result.js';
import type { ExpressionScope } from './expression-scope.js';

const MAX_SHOWN = 200;

/**
 * The expression that a CEL text stands for, checked as far as that goes without values.
 *
 * @param gives what it is asked for
 * @throws InvalidExpressionError (`INVALID_EXPRESSION`), and nothing else, where the text is no CEL, does not fit the types
 * that are known, speaks of what is not there, gives something else, calls what is not offered, or is too large
 * @example compileExpression('input.amount >= 1000', { variables: ['input'], outputs: false }, 'bool')
 */
export function compileExpression(text: unknown, scope: ExpressionScope, gives: ExpressionResult): Expression {
  const checked = checkExpression(text, scope, gives);
  if ('evaluate' in checked) return new Expression(text as string, gives, checked);
  const expression = typeof text === 'string' ? cleanText(text, MAX_SHOWN) : '';
  throw new InvalidExpressionError({ expression, message: checked.message, place: checked.place });
}
