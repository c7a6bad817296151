export type {
  CompiledEscalation,
  CompiledGraph,
  CompiledGraphNode,
  CompiledTrigger,
  GraphBody,
} from './compiled-graph.js';
export { receivedStart } from './received-start.js';
export type { StartMade } from './received-start.js';
export { triggerNote } from './trigger-note.js';
export { TriggerSpecs } from './trigger-specs.js';
export { evaluateMapping } from './compiled-mapping.js';
export type { CompiledMapping } from './compiled-mapping.js';
export type { GraphCatalogue, GraphStageType } from './graph-catalogue.js';
export { GRAPH_JSON_SCHEMA } from './graph-json-schema.js';
export { DEFAULT_GRAPH_LIMITS } from './graph-limits.js';
export type { GraphLimits } from './graph-limits.js';
export type { GraphProblem, ProblemCode } from './graph-problem.js';
export { GRAPH_SCHEMA } from './graph-schema.js';
export type { Graph, GraphEdge, GraphNode, GraphSettings, GraphTrigger } from './graph-schema.js';
export { DONE, SKIPPED } from './outcome.js';
export { validateGraph } from './validate-graph.js';
export type { GraphValidation } from './validate-graph.js';
export { ENTITY_KEY_PREFIX, entityKey, triggersOf } from './published-triggers.js';
export type { EntityChange } from './published-triggers.js';
export { diffGraphs } from './diff-graphs.js';
export type { GraphChange } from './diff-graphs.js';
export { graph, GraphBuilder } from './graph-builder.js';
export type { GraphWays } from './graph-builder.js';
export { inputSchema } from './input-schema.js';
export { inputCheck } from './input-check.js';
export { looseGraph } from './loose-graph.js';
export { namedWorkflows } from './named-workflows.js';
export { readDraft } from './read-draft.js';
export type { DraftRead } from './read-draft.js';
export { toMermaid } from './mermaid.js';
