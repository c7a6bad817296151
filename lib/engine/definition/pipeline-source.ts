import type { CompiledRetryPolicy } from '../retry/retry-policy.js';

/** A pipeline before it is compiled: what `@Workflow` was given, and how to build the flow. */
export interface PipelineSource {
  /** Class and module, for complaints: `DocumentAnalysis (AppModule)`. */
  readonly place: string;
  readonly id: unknown;
  readonly version: unknown;
  /** The class's `define`, bound. */
  readonly define: (flow: unknown) => unknown;
  readonly settings: PipelineSettings;
}

/** Unchecked, like everything a host writes. */
export interface PipelineSettings {
  readonly retry?: unknown;
  readonly limits?: { readonly maxStageRuns?: unknown; readonly startsPerMinute?: unknown };
  readonly actor?: unknown;
  readonly deadline?: unknown;
  readonly queue?: unknown;
}

/** What the module says where a definition says nothing. */
export interface PipelineDefaults {
  readonly retry: CompiledRetryPolicy;
  readonly maxAttemptsCap: number;
  /** A definition may only lower it. */
  readonly maxStageRuns: number;
  /** Null: none; a definition may set one. */
  readonly startsPerMinute: number | null;
}
