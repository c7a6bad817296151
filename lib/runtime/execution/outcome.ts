import type { Outcome } from '../../interfaces/index.js';

/** `Symbol.for`: a stage may have been built against another copy of the package. */
const OUTCOME = Symbol.for('nestjs-workflow-engine:outcome');

/** A body's end with a name, and what it gave. */
export interface NamedEnd {
  readonly name: string;
  readonly output: unknown;
}

/** What `ctx.outcome(name, output)` returns. */
export function outcome(name: string, output: unknown): Outcome {
  const end: NamedEnd = { name: String(name), output };
  return { [OUTCOME]: end } as unknown as Outcome;
}

/** What the body named by returning `ctx.outcome(…)`, or undefined when it returned anything else. */
export function namedEndOf(value: unknown): NamedEnd | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, OUTCOME)) return undefined;
  return (value as Record<symbol, NamedEnd>)[OUTCOME];
}
