import type { ParseResult } from '@marcbachmann/cel-js';
import { cleanText } from '../codec/clean-text.js';
import { findFault } from './allowed-calls.js';
import { bindOutputs } from './bound-outputs.js';
import { CEL } from './cel-environment.js';
import { ExpressionCost } from './cost.js';
import { EXPRESSION_LIMITS } from './expression-limits.js';
import type { ExpressionResult } from './expression-result.js';
import type { ExpressionScope } from './expression-scope.js';
import { faultOf, type LibraryFault } from './library-fault.js';
import { findForeign, usesOf, type ExpressionUses } from './names.js';
import { typeFault } from './type-check.js';

const MAX_MESSAGE_LENGTH = 1_000;
const EMPTY = { values: 0, longestList: 0, longestText: 0 };

/** A text that is an expression of its scope and can give what is asked for. */
export interface CheckedExpression extends ExpressionUses {
  /** Takes the variables, and the outputs by their bound names. */
  readonly evaluate: ParseResult;
  readonly cost: ExpressionCost;
  /** The nodes named by `output("…")`, each once, in the order of their bound names. */
  readonly outputs: readonly string[];
}

/** Why a text is no such expression: without a full stop, and where, as an editor counts: `7`, or `2:7` on a later line. */
export interface ExpressionMisfit {
  readonly message: string;
  readonly place: string | undefined;
}

/** Checks a text as far as that goes without values. Never throws. */
export function checkExpression(
  text: unknown,
  scope: ExpressionScope,
  result: ExpressionResult,
): CheckedExpression | ExpressionMisfit {
  const misfit = textMisfit(text);
  if (misfit !== null) return { message: misfit, place: undefined };
  const expression = text as string;
  let fault: LibraryFault | null;
  try {
    const { ast } = CEL.parse(expression);
    fault = findFault(ast) ?? findForeign(ast, scope);
    const bound = fault ?? bindOutputs(expression, ast);
    if ('text' in bound) {
      const evaluate = CEL.parse(bound.text);
      fault = typeFault({ text: expression, ast, evaluate }, scope, result);
      const cost = new ExpressionCost(evaluate.ast);
      if (fault === null && cost.on(EMPTY) <= EXPRESSION_LIMITS.maxSteps)
        return { evaluate, cost, ...usesOf(ast), outputs: bound.outputs };
      fault ??= { message: 'its loops take too long, whatever the payload' };
    } else fault = bound;
  } catch (error) {
    fault = faultOf(error);
  }
  const place = fault.at === undefined ? undefined : placeIn(expression, fault.at);
  return { message: cleanText(fault.message, MAX_MESSAGE_LENGTH), place };
}

function textMisfit(text: unknown): string | null {
  const { maxLength } = EXPRESSION_LIMITS;
  if (typeof text !== 'string') return `it is no text, but ${text === null ? 'null' : typeof text}`;
  if (text.trim() === '') return 'it is empty';
  if (text.length > maxLength) return `it has ${text.length} characters, over ${maxLength}`;
  // A text that a column cannot hold.
  if (cleanText(text, maxLength) !== text) return 'it holds U+0000 or half of a character';
  return null;
}

function placeIn(text: string, at: number): string {
  const lines = text.slice(0, at).split('\n');
  const column = lines.at(-1)!.length + 1;
  return lines.length === 1 ? `${column}` : `${lines.length}:${column}`;
}
