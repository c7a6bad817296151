import type { ASTNode, Environment, ParseResult } from '@marcbachmann/cel-js';
import { bindOutputs, boundName, MAX_OUTPUTS } from './bound-outputs.js';
import { OBJECT, typedCel } from './cel-environment.js';
import { canGive, type ExpressionResult, RESULT_WORDS } from './expression-result.js';
import type { ExpressionScope } from './expression-scope.js';
import { faultOf, type LibraryFault } from './library-fault.js';
import { isStricterThanRuns } from './stricter-than-runs.js';

/** What the expressions of one graph are checked against: environments, the exact one first, and the variables of outputs in them. */
interface Checkers {
  readonly environments: readonly Environment[];
  readonly outputs: ReadonlyMap<string, string>;
  /** Of outputs that may be anything. */
  readonly anyOutput: string;
}

/** An expression before it is checked against types. */
interface Untyped {
  readonly text: string;
  readonly ast: ASTNode;
  /** With its outputs bound. */
  readonly evaluate: ParseResult;
}

/** What the types say against an expression that is asked for a result; null where it may give it. */
export function typeFault(
  { text, ast, evaluate }: Untyped,
  scope: ExpressionScope,
  result: ExpressionResult,
): LibraryFault | null {
  // Once without known types: what it gives at run time, whatever schemas promise.
  const { valid, type = 'dyn', error } = evaluate.check();
  if (!valid) return faultOf(error);
  if (!canGive(type, result)) return misfit(type, result);
  const checkers = checkersOf(scope);
  if (checkers === null) return null;
  const bound = bindOutputs(text, ast, (node) => checkers.outputs.get(node) ?? checkers.anyOutput);
  if (!('text' in bound)) return bound;
  for (const environment of checkers.environments) {
    const typed = environment.parse(bound.text).check();
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

/** By the object that knows the types: one for each graph. */
const known = new WeakMap<object, Checkers>();

function checkersOf({ input, outputTypes }: ExpressionScope): Checkers | null {
  const knower = outputTypes !== undefined && outputTypes.size > 0 ? outputTypes : input;
  if (knower === undefined) return null;
  const there = known.get(knower);
  if (there !== undefined) return there;
  const types = [...(outputTypes ?? [])].slice(0, MAX_OUTPUTS);
  const values = { input: input ?? 'dyn', outputs: [...types.map(([, type]) => type), 'dyn'] };
  const checkers = {
    environments: [typedCel(values, 'double'), typedCel(values, 'dyn')],
    outputs: new Map(types.map(([node], at) => [node, boundName(at)])),
    anyOutput: boundName(types.length),
  };
  known.set(knower, checkers);
  return checkers;
}
