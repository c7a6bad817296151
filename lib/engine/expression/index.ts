export { compileCondition } from './compile-condition.js';
export type { Condition, ConditionAnswer } from './condition.js';
export { EventValue } from './event-value.js';
export { EXPRESSION_LIMITS } from './expression-limits.js';
