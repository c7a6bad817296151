export { expressionsIn, expressionsOf } from './expressions-of.js';
export { graphDefinition } from './graph-definition.js';
export { GraphVisits } from './graph-visits.js';
export { GraphWalk } from './graph-walk.js';
export type { Walked } from './graph-walk.js';
export { isInline, isWhenInline } from './inline-nodes.js';
export { isEntered, isWhenAsked, TURN } from './loop-turn.js';
export type { TurnLimits } from './loop-turn.js';
export { passNode, type PassResult } from './pass-node.js';
