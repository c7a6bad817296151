import type { Environment, ParseResult } from '@marcbachmann/cel-js';
import { OBJECT_OF_INPUT, typedCel } from './cel-environment.js';
import { canGive, type ExpressionResult, RESULT_WORDS } from './expression-result.js';
import type { ExpressionScope, InputShape } from './expression-scope.js';
import { faultOf, type LibraryFault } from './library-fault.js';
import { isStricterThanRuns } from './stricter-than-runs.js';

/** Environments that check types against the shape of an input, the exact one first. */
const checkers = new WeakMap<InputShape, readonly Environment[]>();

/** What the types say against an expression that is asked for a result; null where it may give it. */
export function typeFault(
  text: string,
  evaluate: ParseResult,
  { input }: ExpressionScope,
  result: ExpressionResult,
): LibraryFault | null {
  // Once without the input's types: what it gives at run time, whatever the schema promises.
  const { valid, type = 'dyn', error } = evaluate.check();
  if (!valid) return faultOf(error);
  if (!canGive(type, result)) return misfit(type, result);
  if (input === undefined) return null;
  for (const checker of checkersOf(input)) {
    const typed = checker.parse(text).check();
    if (typed.valid) return canGive(typed.type ?? 'dyn', result) ? null : misfit(typed.type!, result);
    if (!isStricterThanRuns(typed.error)) return faultOf(typed.error);
    // Nothing that fails when it runs: so as if numbers were anything, which finds what stands beside it.
  }
  return null;
}

function misfit(type: string, result: ExpressionResult): LibraryFault {
  return { message: `it gives ${wordFor(type)}, not ${RESULT_WORDS[result]}` };
}

function wordFor(type: string): string {
  if (type === 'double') return 'a number';
  if (type.startsWith(OBJECT_OF_INPUT)) return 'an object';
  return type.includes(OBJECT_OF_INPUT) ? 'a list of objects' : type;
}

function checkersOf(input: InputShape): readonly Environment[] {
  const known = checkers.get(input);
  if (known !== undefined) return known;
  const made = [typedCel(input, 'double'), typedCel(input, 'dyn')];
  checkers.set(input, made);
  return made;
}
