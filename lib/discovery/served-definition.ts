import type { CompiledDefinition, CompiledStageType, ParsableSchema } from '../engine/definition/index.js';
import type { FoundProvider } from './provider-wrapper.js';

/** A `@Stage` class of this app, checked. */
export interface StageType extends CompiledStageType {
  readonly stageClass: Function;
  readonly provider: FoundProvider;
}

/** A definition that this build serves: runs of it can be started and taken forward here. */
export interface ServedDefinition {
  /** `id@version#fingerprint`. */
  readonly key: string;
  readonly compiled: CompiledDefinition;
  /** Canonical JSON of the structure that the fingerprint is taken of. */
  readonly structure: string;
  readonly inputSchema: ParsableSchema;
  readonly workflowClass: Function;
  /** Class and module. */
  readonly place: string;
}
