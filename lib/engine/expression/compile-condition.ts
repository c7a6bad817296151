import { InvalidWhereError } from '../../errors/index.js';
import { cleanText } from '../codec/clean-text.js';
import { checkExpression } from './checked-expression.js';
import { Condition } from './condition.js';
import { EVENT_SCOPE } from './expression-scope.js';

const MAX_SHOWN = 200;
const MAX_CACHED = 500;

/** The same text gives the same condition, so keeping the last ones changes nothing but time. Oldest first. */
const cache = new Map<string, Condition>();

/**
 * The condition that a CEL expression on `event` stands for, checked as far as that goes without a payload. Texts that were
 * compiled lately are not compiled again.
 *
 * @throws InvalidWhereError (`INVALID_WHERE`), and nothing else, where the text is no CEL, gives something else than true
 * or false, calls what conditions don't offer, or is too large; it says where in the text
 * @example compileCondition('event.amount > 1000 && event.currency == "EUR"')
 */
export function compileCondition(text: string): Condition {
  const known = cache.get(text);
  if (known !== undefined) cache.delete(text);
  const condition = known ?? compile(text);
  cache.set(text, condition);
  if (cache.size > MAX_CACHED) cache.delete(cache.keys().next().value!);
  return condition;
}

function compile(text: string): Condition {
  const checked = checkExpression(text, EVENT_SCOPE, 'bool');
  if ('evaluate' in checked) return new Condition(text, checked.evaluate, checked.cost);
  const where = typeof text === 'string' ? cleanText(text, MAX_SHOWN) : '';
  throw new InvalidWhereError({ where, message: checked.message, place: checked.place });
}
