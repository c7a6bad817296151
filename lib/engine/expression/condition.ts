import type { ParseResult } from '@marcbachmann/cel-js';
import type { ExpressionCost } from './cost.js';
import { evaluationProblem, shortProblem } from './evaluation-problem.js';
import { EventValue } from './event-value.js';
import { EXPRESSION_LIMITS } from './expression-limits.js';

/** Whether a condition holds. `problem`: why it could not be asked, which is not holding; null where it was. */
export interface ConditionAnswer {
  readonly holds: boolean;
  readonly problem: string | null;
}

const YES: ConditionAnswer = Object.freeze({ holds: true, problem: null });
const NO: ConditionAnswer = Object.freeze({ holds: false, problem: null });

/** A checked condition on the payload of an event. Made by `compileCondition`. */
export class Condition {
  readonly #evaluate: ParseResult;
  readonly #cost: ExpressionCost;

  constructor(
    readonly text: string,
    evaluate: ParseResult,
    cost: ExpressionCost,
  ) {
    this.#evaluate = evaluate;
    this.#cost = cost;
  }

  /**
   * Whether it holds on a payload (JSON, or an `EventValue` of it). Never throws: a missing field, a value of another type
   * than it is compared with, a result that is neither true nor false, or a payload so large that the evaluation would hold
   * the process up is a no that says why.
   *
   * @example compileCondition('event.amount > 10').holds({ amount: 12 }).holds // true
   */
  holds(payload: unknown): ConditionAnswer {
    const event = EventValue.of(payload);
    if (event.problem !== null) return no(event.problem);
    const steps = this.#cost.on(event);
    const { maxSteps } = EXPRESSION_LIMITS;
    if (steps > maxSteps) return no(`the payload is too large for it: up to ${steps} steps, over ${maxSteps}`);
    try {
      const result: unknown = this.#evaluate({ event: event.value });
      if (typeof result === 'boolean') return result ? YES : NO;
      return no('it gave neither true nor false');
    } catch (error) {
      return no(evaluationProblem(error, this.text, this.#evaluate.ast));
    }
  }
}

function no(problem: string): ConditionAnswer {
  return { holds: false, problem: shortProblem(problem) };
}
