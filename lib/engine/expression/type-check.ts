import type { Environment, ParseResult } from '@marcbachmann/cel-js';
import type { BoundText } from './bound-outputs.js';
import { OBJECT, typedCel, type TypedValues } from './cel-environment.js';
import { canGive, type ExpressionResult, RESULT_WORDS } from './expression-result.js';
import type { ExpressionScope } from './expression-scope.js';
import { faultOf, type LibraryFault } from './library-fault.js';
import { isStricterThanRuns } from './stricter-than-runs.js';

type Checkers = readonly Environment[];

/** Environments that check types, the exact one first: by what knows the types, and by those that an expression reads. */
const known = new WeakMap<object, Map<string, Checkers>>();

/** What the types say against an expression that is asked for a result; null where it may give it. */
export function typeFault(
  { text, outputs }: BoundText,
  evaluate: ParseResult,
  { input, outputTypes }: ExpressionScope,
  result: ExpressionResult,
): LibraryFault | null {
  // Once without known types: what it gives at run time, whatever schemas promise.
  const { valid, type = 'dyn', error } = evaluate.check();
  if (!valid) return faultOf(error);
  if (!canGive(type, result)) return misfit(type, result);
  const values = { input, outputs: outputs.map((node) => outputTypes?.get(node)) };
  const knower = values.outputs.some((one) => one !== undefined) ? outputTypes : input;
  if (knower === undefined) return null;
  for (const checker of checkersOf(values, knower)) {
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
  if (type.startsWith(OBJECT)) return 'an object';
  return type.includes(OBJECT) ? 'a list of objects' : type;
}

function checkersOf(values: TypedValues, knower: object): Checkers {
  const byOutputs = known.get(knower) ?? new Map<string, Checkers>();
  known.set(knower, byOutputs);
  const key = JSON.stringify(values.outputs);
  const checkers = byOutputs.get(key) ?? [typedCel(values, 'double'), typedCel(values, 'dyn')];
  byOutputs.set(key, checkers);
  return checkers;
}
