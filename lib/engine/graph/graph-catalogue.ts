import type { ParsableSchema, PipelineDefaults } from '../definition/index.js';
import { type CompiledRetryPolicy, DEFAULT_MAX_ATTEMPTS_CAP, DEFAULT_RETRY_POLICY } from '../retry/index.js';
import { DEFAULT_LIMITS } from '../limits/index.js';
import type { GraphLimits } from './graph-limits.js';

/** A node type of the host: what a graph must know of a `@Stage`. */
export interface GraphStageType {
  /** What its config must fit; none = it takes no config. */
  readonly config?: ParsableSchema | null;
  /** What its output is parsed by; none = expressions may read anything of it. */
  readonly outputSchema?: ParsableSchema | null;
  /** What it may end with, each with an edge of its own. @default ['done'] */
  readonly outcomes?: readonly string[];
  readonly retry?: CompiledRetryPolicy | null;
  readonly timeoutMs?: number | null;
  readonly queue?: string | null;
  readonly hasCancelHook?: boolean;
}

/** What there is in the app that graphs are checked against. */
export interface GraphCatalogue {
  /** By type, which is the `@Stage` id. A type with the name of a built-in one is never met. */
  readonly types: Readonly<Record<string, GraphStageType>>;
  /** Names of the resolvers behind `approvers.…`. Left out: any name is taken. */
  readonly approvers?: readonly string[];
  /** Ids of workflows that may be started. Left out: any id is taken. */
  readonly workflows?: readonly string[];
  /**
   * The graph would be nobody's where each run must have an owner: its schedules and webhooks are refused, since they start runs of the
   * graph's owner. Those for events start runs of the event's. @default false
   */
  readonly lacksOwner?: boolean;
  /** Names of entities whose changes are told of. Left out: any name is taken. */
  readonly entities?: readonly string[];
  /**
   * The graph was published already, so that its types were looked at, by the build that published it: what this build knows more of
   * expressions keeps no run of it from going on. @default false
   */
  readonly published?: boolean;
  readonly limits?: Partial<GraphLimits>;
  /** What holds where a graph says nothing. */
  readonly defaults?: PipelineDefaults;
}

export const DEFAULT_GRAPH_DEFAULTS: PipelineDefaults = Object.freeze({
  retry: DEFAULT_RETRY_POLICY,
  maxAttemptsCap: DEFAULT_MAX_ATTEMPTS_CAP,
  maxStageRuns: DEFAULT_LIMITS.maxStageRuns,
  startsPerMinute: DEFAULT_LIMITS.startsPerMinute,
});
