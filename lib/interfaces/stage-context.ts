import type { ParsedConfig, ParsedInput, StageSchemas } from './stage-schemas.js';
import type { PresentOutputOf, StageClass } from './stage-handler.js';
import type { Skipped } from './skipped.js';

declare const schemas: unique symbol;

/**
 * All that a stage body is given, for one attempt. Made anew for every attempt; keep nothing of it.
 *
 * @typeParam S the stage's schemas, as in `StageContext<typeof schemas>`.
 */
export interface StageContext<S extends StageSchemas = StageSchemas> {
  /** Never present. `implements` gives a class no types, so a stage's schemas are read from the parameter of `execute`. */
  readonly [schemas]?: S;

  /** What the node before yielded (the run's input for the first node), as this stage's input schema parsed it. */
  readonly input: ParsedInput<S>;

  /** As written in the definition, with the defaults of the config schema. Frozen: every attempt of every run shares it. */
  readonly config: ParsedConfig<S>;

  readonly run: RunInfo;
  readonly stage: StageInfo;

  /** Number of this attempt, from 1. */
  readonly attempt: number;

  /** Who the run belongs to: what `owners.load` made of the stored id, the id itself without it, or null. */
  readonly owner: unknown;

  /** On whose behalf the run acts: what `systemActor` returns, or the one who started the run, or null. */
  readonly actor: unknown;

  /**
   * The same for every attempt of this stage run, a manual retry months later included, and different for every other one:
   * hand it to whatever takes an idempotency key, a payment API for example.
   */
  readonly idempotencyKey: string;

  /**
   * Aborts when the attempt is over before the body is: cancelled, timed out, lease lost, or the process shuts down. Its
   * `reason` is a `StageAbortedError` that says which. What the body returns after that is discarded.
   */
  readonly abortSignal: AbortSignal;

  /**
   * The output of an earlier stage; present falsy values are values.
   *
   * @throws OutputMissingError (`OUTPUT_MISSING`) when it has not run in this run, or was skipped.
   * @throws AmbiguousStageError (`AMBIGUOUS_STAGE`) when the class stands at several nodes: name the key.
   */
  require<T extends StageClass>(stage: T): PresentOutputOf<T>;
  require<T = unknown>(key: string): T;

  /**
   * As `require`, but undefined where that says the output is missing.
   *
   * @throws AmbiguousStageError (`AMBIGUOUS_STAGE`) when the class stands at several nodes: name the key.
   */
  optional<T extends StageClass>(stage: T): PresentOutputOf<T> | undefined;
  optional<T = unknown>(key: string): T | undefined;

  /** `return ctx.skip('nothing to do')`: the stage ends SKIPPED with this reason and yields undefined. Must be returned. */
  skip(reason: string): Skipped;

  /** Writes a line through Nest's Logger with the ids of run and stage. */
  log(message: string): void;
}

export interface RunInfo {
  readonly id: string;
  /** Id of the definition. */
  readonly definition: string;
  readonly version: number;
  /** As it is stored, before the run's input schema parses it. */
  readonly input: unknown;
}

export interface StageInfo {
  /** The id given to `@Stage`. */
  readonly id: string;
  /** Id of the stage run: one visit of this stage in this run. */
  readonly runId: string;
  /** What names this stage in its definition: its id, or the `key` given. */
  readonly key: string;
  /** Key of the node: `key` itself, but for the branches of a parallel group. */
  readonly node: string;
}
