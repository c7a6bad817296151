export { Complaints } from './complaints.js';
export { compilePipeline } from './compile-pipeline.js';
export type { CompiledPipeline } from './compile-pipeline.js';
export { compileStage, readSchema } from './compile-stage.js';
export type { CompiledStageType, StageSource } from './compile-stage.js';
export { definitionKey } from './compiled-definition.js';
export type {
  CompiledDefinition,
  CompiledNode,
  CompiledStage,
  DefinitionSettings,
  DefinitionWays,
  EndedNode,
  VisitsBefore,
  NodeVisited,
  RerunWay,
  RetryWay,
  WhenContext,
} from './compiled-definition.js';
export { foldIdentifier, IDENTIFIER_RULE, isIdentifier, MAX_IDENTIFIER_LENGTH } from './identifier.js';
export type { ParsableSchema, ParseResult } from './parsable-schema.js';
export { PipelineFlow } from './pipeline-flow.js';
export type { PipelineDefaults, PipelineSettings, PipelineSource } from './pipeline-source.js';
export type { StageLookup, StageTraits } from './stage-traits.js';
