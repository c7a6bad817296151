export { graphDefinition } from './graph-definition.js';
export { isInline } from './inline-nodes.js';
export type { TurnLimits } from './loop-turn.js';
