import type { CompiledDefinition } from '../../engine/definition/compiled-definition.js';
import type { ParsableSchema } from '../../engine/definition/parsable-schema.js';
import type { CompiledGraph } from '../../engine/graph/index.js';
import type { StageContext } from '../../interfaces/index.js';

/** What the runtime needs of a `@Stage` class. */
export interface RuntimeStageType {
  readonly id: string;
  readonly inputSchema: ParsableSchema | null;
  readonly outputSchema: ParsableSchema | null;
  /** What the authorizer is asked about; null where `@Stage` names nothing. */
  readonly ability: string | null;
  readonly sideEffect: boolean;
  /** The class has a `checkCompletion`. */
  readonly hasCompletionCheck: boolean;
  /** What it may end with; null = `done`. */
  readonly outcomes: readonly string[] | null;
}

/** What the runtime needs of a definition that this build serves. */
export interface RuntimeDefinition {
  readonly compiled: CompiledDefinition;
  /** Parses the stored input of a run when its first stage reads it. */
  readonly inputSchema: ParsableSchema | null;
  /** Where it is one: what its nodes say beyond what deciding needs. */
  readonly graph?: CompiledGraph;
}

/** An instance of a stage class. */
export interface RunnableStage {
  execute(context: StageContext): unknown;
  cancel?(context: StageContext): unknown;
  checkCompletion?(state: unknown, context: StageContext): unknown;
}

/** Whose execution a request-scoped stage is made for. */
export interface StageRequest {
  readonly runId: string;
  readonly stageRunId: string;
  readonly attempt: number;
  readonly ownerId: string | null;
}

/** The definitions and stages of this build, as discovery found them. */
export interface DefinitionSource {
  byKey(definitionKey: string): RuntimeDefinition | undefined;
  stageType(stage: string): RuntimeStageType | undefined;
  /** The `@Stage` id of a class, for `ctx.require(Stage)`. */
  stageIdOf(stageClass: unknown): string | undefined;
  /**
   * Looks for what modules loaded lazily have brought, and for a graph that was published. Called for a definition nobody knows.
   *
   * @param ownerId whose run it is of
   */
  refresh(definitionKey: string, ownerId: string | null): Promise<unknown> | unknown;
  /**
   * Looks again for a definition that was not served: whether it is now, or else may be for runs of other owners, who see other graphs.
   *
   * @param ownerId whose run it was of
   */
  mayServe(definitionKey: string, ownerId: string | null): Promise<boolean> | boolean;
  /** The provider itself, or one made for this execution where something below it is request-scoped. */
  resolve(type: RuntimeStageType, request: StageRequest): RunnableStage | Promise<RunnableStage>;
}
