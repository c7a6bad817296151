export { builtInNode, builtInType } from './built-in-nodes.js';
export { NodeValues } from './node-values.js';
export type { NodeEvent, NodeHost, NodeWork } from './node-work.js';
