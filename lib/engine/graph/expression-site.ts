import type { ExpressionResult } from '../expression/index.js';
import type { GraphPath } from './graph-problem.js';

/** Where an expression stands in a graph, and what it is asked for there. */
export interface ExpressionSite {
  /** From the node, trigger or action that it belongs to. */
  readonly path: GraphPath;
  readonly text: unknown;
  readonly gives: ExpressionResult;
  /** `event`: only the payload is there. `people`: `approvers` too. */
  readonly speaksOf?: 'event' | 'people';
}

/** Where a mapping stands: JSON of which every text is an expression. */
export interface MappingSite {
  readonly path: GraphPath;
  readonly mapping: unknown;
}
