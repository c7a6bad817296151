/**
 * Where the engine keeps things in the host's CLS. `Symbol.for`: two copies of the package read each other's context, and
 * no key of a host can meet one of these.
 */
export const CONTEXT_KEYS = {
  owner: Symbol.for('nestjs-workflow-engine:context.owner'),
  ownerId: Symbol.for('nestjs-workflow-engine:context.owner-id'),
  actor: Symbol.for('nestjs-workflow-engine:context.actor'),
  startedBy: Symbol.for('nestjs-workflow-engine:context.started-by'),
  run: Symbol.for('nestjs-workflow-engine:context.run'),
  stage: Symbol.for('nestjs-workflow-engine:context.stage'),
  request: Symbol.for('nestjs-workflow-engine:context.request'),
  trace: Symbol.for('nestjs-workflow-engine:context.trace'),
} as const;

export type ContextKey = keyof typeof CONTEXT_KEYS;
