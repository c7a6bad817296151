import { DEFAULT_GRAPH_LIMITS } from '../engine/graph/index.js';
import type { TurnLimits } from '../engine/walk/index.js';
import type { ResolvedWorkflowOptions } from '../interfaces/resolved-workflow-options.js';

/** What a run of a graph may come to in this app: the bytes of one output, and the turns of a loop. */
export const turnLimits = ({ limits }: Pick<ResolvedWorkflowOptions, 'limits'>): TurnLimits => ({
  maxOutputBytes: limits.maxOutputBytes,
  maxLoopIterations: DEFAULT_GRAPH_LIMITS.maxLoopIterations,
});
