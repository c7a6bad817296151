import { InvalidWhereError } from '../../errors/index.js';
import { cleanText } from '../codec/clean-text.js';
import { readSafely } from '../codec/read-safely.js';
import { thrownMessage } from '../codec/thrown-text.js';
import { type ExpressionFault, findFault } from './allowed-calls.js';
import { createCelEnvironment } from './cel-environment.js';
import { Condition } from './condition.js';
import { ExpressionCost } from './cost.js';
import { EXPRESSION_LIMITS } from './expression-limits.js';

const MAX_SHOWN = 200;
const MAX_CACHED = 500;
const EMPTY = { values: 0, longestList: 0, longestText: 0 };

const environment = createCelEnvironment();
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
  const misfit = textMisfit(text);
  if (misfit !== null) throw refusal(text, { message: misfit });
  let fault: Fault | null;
  try {
    const parsed = environment.parse(text);
    fault = findFault(parsed.ast);
    if (fault === null) {
      const { valid, type, error } = parsed.check();
      if (!valid) throw error;
      if (type !== 'bool' && type !== 'dyn') fault = { message: `it gives ${type}, not true or false` };
    }
    if (fault === null) {
      const cost = new ExpressionCost(parsed.ast);
      if (cost.on(EMPTY) <= EXPRESSION_LIMITS.maxSteps) return new Condition(text, parsed, cost);
      fault = { message: 'its loops take too long, whatever the payload' };
    }
  } catch (error) {
    fault = faultOf(error);
  }
  throw refusal(text, fault);
}

type Fault = Pick<ExpressionFault, 'message'> & Partial<ExpressionFault>;

function textMisfit(text: unknown): string | null {
  const { maxLength } = EXPRESSION_LIMITS;
  if (typeof text !== 'string') return `it is no text, but ${text === null ? 'null' : typeof text}`;
  if (text.trim() === '') return 'it is empty';
  if (text.length > maxLength) return `it has ${text.length} characters, over ${maxLength}`;
  // A text that a column cannot hold.
  if (cleanText(text, maxLength) !== text) return 'it holds U+0000 or half of a character';
  return null;
}

function faultOf(error: unknown): Fault {
  const summary = readSafely(error, 'summary');
  const start = readSafely(readSafely(error, 'range'), 'start');
  return {
    message: (typeof summary === 'string' ? summary : thrownMessage(error)).replace(/\.$/, ''),
    ...(typeof start === 'number' ? { at: start } : {}),
  };
}

function refusal(text: unknown, { message, at }: Fault): InvalidWhereError {
  const where = typeof text === 'string' ? cleanText(text, MAX_SHOWN) : '';
  const place = typeof text === 'string' && at !== undefined ? placeIn(text, at) : undefined;
  return new InvalidWhereError({ where, message: cleanText(message, 1_000), place });
}

/** As an editor counts: `7`, and from the second line on `2:7`. */
function placeIn(text: string, at: number): string {
  const lines = text.slice(0, at).split('\n');
  const column = lines.at(-1)!.length + 1;
  return lines.length === 1 ? `${column}` : `${lines.length}:${column}`;
}
