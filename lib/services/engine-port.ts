import type {
  Hint,
  JoinedTransaction,
  NextId,
  OwnerScope,
  RunDetails,
  StoredEvent,
  WorkflowStore,
} from '../engine/ports/index.js';
import type { CompiledGraph, GraphCatalogue } from '../engine/graph/index.js';
import type { CompiledDefinition } from '../engine/definition/compiled-definition.js';
import type { ParsableSchema } from '../engine/definition/parsable-schema.js';
import type { WorkflowClass } from '../interfaces/index.js';

/** A definition as `start` needs it. */
export interface StartableDefinition {
  readonly compiled: CompiledDefinition;
  /** Null: any input. */
  readonly inputSchema: ParsableSchema | null;
  /** Of one that is a graph. */
  readonly graph?: CompiledGraph;
  /** What its starts are counted by (LIMIT-3). @default its id */
  readonly rateName?: string;
}

/** Finds definitions that this build serves. */
export interface DefinitionLookup {
  /**
   * The highest version of an id, or of a class's id: a workflow in code; else a graph, the owner's own before the shared one.
   *
   * @throws UnknownWorkflowError
   */
  find(
    workflow: WorkflowClass | string,
    version: number | undefined,
    ownerId: string | null,
  ): Promise<StartableDefinition>;
  /** By `id@version#fingerprint`; undefined where this build does not serve it. */
  byKey(definitionKey: string): CompiledDefinition | undefined;
  /** The same, read where it is a graph that this process has not met yet. @param ownerId whose run it is of */
  load(definitionKey: string, ownerId: string | null): Promise<CompiledDefinition | undefined>;
  /** All versions of an id that this build serves, lowest first; none of one it does not know. */
  versions(id: string): readonly CompiledDefinition[];
}

/** What there is in this app that graphs are checked against and compared with. */
export interface GraphWorkbench {
  /**
   * @param startable ids of graphs that may be started, beside workflows in code; left out, for what was published once: any id is
   * taken, and triggers may listen to any entity, since the runs of a graph don't ask who starts them; types of expressions are not
   * looked at again
   * @param ownerId whose the graph is to be; left out: that is not looked at
   */
  catalogue(startable?: readonly string[], ownerId?: string | null): GraphCatalogue;
  /** Ids of workflows in code. */
  codeIds(): readonly string[];
  /** A workflow in code, the highest version unless one is named. */
  code(id: string, version?: number): CompiledDefinition | undefined;
}

export interface WaitOptions {
  /** @default no limit */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** This process has just created it: it need not be looked for first. @default false */
  readonly created?: boolean;
}

/**
 * The part of a running engine that the services stand on, made by the composition root. Services never see Nest,
 * the database or the worker.
 */
export interface EnginePort {
  readonly store: WorkflowStore;
  readonly definitions: DefinitionLookup;
  readonly graphs: GraphWorkbench;
  readonly nextId: NextId;
  /** Tells this process and all others, after commit. Never throws. */
  announce(hint: Hint): void;
  /** Something of a start becomes due in so long: this process sees to it in time (WAKE-6). */
  dueIn(ms: number): void;
  /** Tells all processes when the host's transaction commits, and nobody when it is rolled back. */
  announceWithin(transaction: JoinedTransaction, hint: Hint): Promise<void>;
  /** An event is stored and committed: this process matches it with open waits from now on. Never throws. */
  eventEmitted(event: StoredEvent): void;
  /**
   * Resolves with a run once it has ended. @throws RunNotFoundError, ResultTimeoutError after `timeoutMs`, ShuttingDownError when this
   * process stops, the signal's reason when it aborts
   */
  waitForEnd(runId: string, scope: OwnerScope, options: WaitOptions): Promise<RunDetails>;
}

/** Resolves when the engine can be used; rejects with why it can't, and tries anew at the next call (fault G7). */
export type EngineReady = () => Promise<EnginePort>;
