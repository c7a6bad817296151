/** How large a graph may be, and how often a loop may turn (LIMIT-4, LIMIT-5). */
export interface GraphLimits {
  /** @default 200 */
  readonly maxNodes: number;
  /** @default 400 */
  readonly maxEdges: number;
  /** Bytes of the graph as JSON in UTF-8. @default 262144 (256 KiB) */
  readonly maxBytes: number;
  /** Objects and lists inside each other. @default 40 */
  readonly maxDepth: number;
  /** Expressions, those in mappings included. @default 2000 */
  readonly maxExpressions: number;
  /** Turns of one loop. @default 1000 */
  readonly maxLoopIterations: number;
}

export const DEFAULT_GRAPH_LIMITS: GraphLimits = Object.freeze({
  maxNodes: 200,
  maxEdges: 400,
  maxBytes: 256 * 1024,
  maxDepth: 40,
  maxExpressions: 2_000,
  maxLoopIterations: 1_000,
});
