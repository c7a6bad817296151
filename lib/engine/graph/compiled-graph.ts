import type { DefinitionSettings } from '../definition/index.js';
import type { Expression } from '../expression/index.js';
import type { CompiledRetryPolicy } from '../retry/index.js';
import type { CompiledMapping } from './compiled-mapping.js';
import type { Graph } from './graph-schema.js';

/** A graph that was found valid: frozen, and all that deciding needs to know of it. */
export interface CompiledGraph {
  readonly id: string;
  /** Digest of the graph but for names and descriptions: two graphs with equal fingerprints run alike. */
  readonly fingerprint: string;
  /** The node that a run begins with. */
  readonly start: string;
  /** In the order of the graph. */
  readonly nodes: readonly CompiledGraphNode[];
  readonly settings: DefinitionSettings;
  readonly triggers: readonly CompiledTrigger[];
  /** As it was written. */
  readonly source: Graph;
}

export interface CompiledGraphNode {
  readonly id: string;
  /** Place in `nodes`, from 0. */
  readonly index: number;
  readonly type: string;
  /** Whether the engine knows what to do, or a `@Stage` does. */
  readonly builtIn: boolean;
  /** Of a stage as its schema parsed it, defaults applied once. */
  readonly config: unknown;
  /** The expressions of the config by their place in it: `if`, `cases[0].if`. */
  readonly expressions: ReadonlyMap<string, Expression>;
  /** The mappings of the config by their place in it: `value`, `output`. */
  readonly mappings: ReadonlyMap<string, CompiledMapping>;
  readonly when: Expression | null;
  /** What the node is given; null = the run's input. */
  readonly input: CompiledMapping | null;
  /** The next node by outcome. */
  readonly edges: ReadonlyMap<string, string>;
  /** The outcome that a skipped node goes on by. */
  readonly skipOutcome: string | null;
  /** The innermost body that the node stands in. */
  readonly body: GraphBody | null;
  readonly retry: CompiledRetryPolicy;
  readonly timeoutMs: number | null;
  readonly queue: string | null;
  readonly hasCancelHook: boolean;
  readonly escalations: readonly CompiledEscalation[];
}

/** A turn of a loop, or a branch of a parallel node. */
export interface GraphBody {
  /** The loop or the parallel node, which the body comes back to. */
  readonly block: string;
  /** `each`, or the branch. */
  readonly outcome: string;
}

export interface CompiledEscalation {
  /** Which one of its node, from 1. */
  readonly level: number;
  readonly afterMs: number;
  /** `notify`, `reassign`, `start_workflow`, `take_edge`, or a stage. */
  readonly type: string;
  /** The action as it was written; of a stage the config as its schema parsed it. */
  readonly action: Readonly<Record<string, unknown>>;
  /** Whom it is about: an expression, or the ids; null where it is about nobody. */
  readonly to: Expression | readonly string[] | null;
  /** What the action is given; null = the run's input. */
  readonly input: CompiledMapping | null;
  /** What holds for the action itself, and not what holds for its node. */
  readonly retry: CompiledRetryPolicy;
  readonly timeoutMs: number | null;
  readonly queue: string | null;
  readonly hasCancelHook: boolean;
}

export interface CompiledTrigger {
  readonly id: string;
  readonly type: 'schedule' | 'webhook' | 'event';
  readonly trigger: NonNullable<Graph['triggers']>[number];
  readonly input: CompiledMapping | null;
  readonly where: Expression | null;
  readonly key: Expression | null;
  readonly subjectId: Expression | null;
}
