import type { RuntimeStageType } from '../execution/definition-source.js';

/** A type of the engine's own, as the runtime knows a `@Stage`: nothing is parsed, and it has neither an ability nor outcomes to declare. */
export function ownType(id: string, sideEffect: boolean): RuntimeStageType {
  const parsesNothing = { inputSchema: null, outputSchema: null };
  return Object.freeze({ id, ...parsesNothing, ability: null, sideEffect, hasCompletionCheck: false, outcomes: null });
}
