export { expressionsIn, expressionsOf } from './expressions-of.js';
export { graphDefinition } from './graph-definition.js';
export { GraphVisits } from './graph-visits.js';
export { isInline, isWhenInline } from './inline-nodes.js';
export type { TurnLimits } from './loop-turn.js';
export { passNode, type PassResult } from './pass-node.js';
