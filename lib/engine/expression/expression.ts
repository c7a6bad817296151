import type { CheckedExpression } from './checked-expression.js';
import { evaluationProblem, shortProblem } from './evaluation-problem.js';
import { EXPRESSION_LIMITS } from './expression-limits.js';
import type { ExpressionVariable } from './expression-scope.js';
import { readResult, RESULT_WORDS, type ExpressionResult } from './expression-result.js';
import { type Extent, ExpressionValues } from './expression-values.js';

/** What an expression gave, as JSON; or why it gave nothing, in a sentence. */
export type ExpressionAnswer =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string };

const NO_VALUES = new ExpressionValues({});
const NO_EXTENT: Extent = { values: 0, longestList: 0, longestText: 0 };
/** Steps of an expression that is asked while it is compiled, of which a graph has thousands. */
const MOST_ASKED_AT_ONCE = 1_000;

/** A checked expression. Made by `compileExpression`; keep it, and evaluate it as often as needed. */
export class Expression {
  readonly #checked: CheckedExpression;

  constructor(
    readonly text: string,
    readonly gives: ExpressionResult,
    checked: CheckedExpression,
  ) {
    this.#checked = checked;
  }

  /** The nodes whose outputs it reads. */
  get outputs(): readonly string[] {
    return this.#checked.outputs;
  }

  /** The variables that it reads. */
  get variables(): readonly ExpressionVariable[] {
    return this.#checked.variables;
  }

  /** The resolvers of approvers that it names; `undefined` among them where it uses `approvers` in another way. */
  get approvers(): readonly (string | undefined)[] {
    return this.#checked.approvers;
  }

  /** The texts, where the expression is a list of texts and nothing else; else null. */
  get constantTexts(): readonly string[] | null {
    return this.#checked.constantTexts;
  }

  /** Whether it gives the same whatever the values. */
  get isConstant(): boolean {
    return this.#checked.variables.length === 0 && this.#checked.outputs.length === 0;
  }

  /** Why one that reads nothing never gives what it is asked for; null where it does, where it reads something, or where asking takes long. */
  get constantProblem(): string | null {
    if (!this.isConstant || this.#checked.cost.on(NO_EXTENT) > MOST_ASKED_AT_ONCE) return null;
    const answer = this.evaluateConstant();
    return answer.ok ? null : answer.problem;
  }

  /** What an expression gives that reads nothing. */
  evaluateConstant(): ExpressionAnswer {
    return this.evaluate(NO_VALUES);
  }

  /**
   * Evaluates. Never throws: a missing field, a value of another type, a result that is not what was asked for, or values so
   * large that the evaluation would hold the process up are answers that say why.
   *
   * @example compileExpression('input.amount * 2', scope, 'value').evaluate(new ExpressionValues({ input: { amount: 4 } })) // { ok: true, value: 8 }
   */
  evaluate(values: ExpressionValues): ExpressionAnswer {
    const { evaluate, cost, variables, outputs } = this.#checked;
    const extent = values.extentOf(variables, outputs);
    if (typeof extent === 'string') return refuse(extent);
    const steps = cost.on(extent);
    const { maxSteps } = EXPRESSION_LIMITS;
    if (steps > maxSteps) return refuse(`the values are too large for it: up to ${steps} steps, over ${maxSteps}`);
    try {
      const given: unknown = evaluate(values.contextOf(variables, outputs));
      const value = readResult(given, this.gives);
      return value === undefined ? refuse(`it gave no ${noun(this.gives)}`) : { ok: true, value };
    } catch (error) {
      return refuse(evaluationProblem(error, this.text, evaluate.ast));
    }
  }
}

function noun(gives: ExpressionResult): string {
  return RESULT_WORDS[gives].replace(/^an? /, '');
}

function refuse(problem: string): ExpressionAnswer {
  return { ok: false, problem: shortProblem(problem) };
}
