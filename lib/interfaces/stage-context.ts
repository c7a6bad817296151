import type { SubjectName } from '../engine/ports/step-store.js';
import type { ParsedConfig, ParsedInput, ReturnedOutput, StageSchemas } from './stage-schemas.js';
import type { Outcome } from './outcome.js';
import type { PresentOutputOf, StageClass } from './stage-handler.js';
import type { Skipped } from './skipped.js';
import type { StepApi } from './step-api.js';
import type { TransactionManager } from './run-handle.js';
import type { StepBodyContext, TransactionOptions } from './step-options.js';
import type { Stored } from './stored.js';
import type { SuspendOptions, Suspended } from './suspended.js';

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
   * What the run is about, loaded for its owner: once for each attempt, before the body began.
   *
   * @typeParam T what its resolver loads: the entity's class.
   * @throws SubjectMissingError (`SUBJECT_MISSING`) in a `cancel` hook, where it may be gone; InvalidOptionsError (`INVALID_OPTIONS`)
   * when the run is about nothing, or nobody loads subjects of its type
   */
  subject<T = unknown>(): Promise<T>;

  /**
   * The same for every attempt of this stage run, a manual retry months later included, and different for every other one:
   * hand it to whatever takes an idempotency key, a payment API for example.
   */
  readonly idempotencyKey: string;

  /**
   * Aborts when the attempt is over before the body is: cancelled, timed out, lease lost, the process shuts down, or the
   * stage waits and its body is dropped. Its `reason` is a `StageAbortedError` that says which. What the body returns after
   * that is discarded.
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

  /**
   * `return ctx.outcome('refused', output)`: the stage ends with this output, and in a graph the run goes on by the edge of this
   * outcome, one of those that `@Stage({ outcomes })` names. In a pipeline it is kept with the stage, and nothing else. Must be
   * returned.
   *
   * The attempt fails UNKNOWN_OUTCOME, never retried, for a name that is none of the stage's.
   */
  outcome(name: string, output: ReturnedOutput<S>): Outcome;

  /** Durable calls: steps, sleeps, waits, children. */
  readonly step: StepApi;

  /**
   * As `step.run`, but the result lives as long as the run: no retry does it again, no manual retry months later, no
   * `rerunFrom`. For what must not happen twice, such as a payment.
   */
  once<T>(name: string, fn: (step: StepBodyContext) => T | Promise<T>): Promise<Stored<Awaited<T>>>;

  /**
   * A step of your own database: `fn` writes with the manager it is given, and what it returned is recorded in the same
   * transaction. After the commit both are there, before it neither, wherever the process dies; a replay answers from the
   * ledger. Type the parameter: `(manager: EntityManager) => …`.
   *
   * The transaction is READ COMMITTED, on a connection of the DataSource that the engine was given. It commits only if this
   * attempt still holds the stage and the run still runs: a cancel, or another worker's claim, that came first rolls it back.
   * So does what `fn` throws; that is recorded once the tries of `retry` are used up, and opened again by the stage's own
   * retry. `fn` may be called more often than it commits: what it does beside the manager belongs in `step.run`.
   *
   * Where @nestjs-cls/transactional is set up on that DataSource, it is the ambient transaction too.
   *
   * @throws what `fn` threw; InvalidStepError (`INVALID_STEP`) when it ended the transaction or its own run;
   * InvalidOutputError (`INVALID_OUTPUT`) for a value that JSON cannot hold; InvalidOptionsError (`INVALID_OPTIONS`) on the in-memory store of tests
   */
  transaction<T, M extends TransactionManager = TransactionManager>(
    name: string,
    fn: (manager: M) => T | Promise<T>,
    options?: TransactionOptions,
  ): Promise<Stored<Awaited<T>>>;

  /**
   * Gives what this stage writes to the host's own tables together with its outcome: `fn(manager)` is called once the body has
   * returned and its output has been checked, in a READ COMMITTED transaction on the host's DataSource whose last write is the
   * stage's completion and what follows from it. Both commit, or neither (TX-3).
   *
   * Of several calls all run, in order. Only a completion calls them: not a skip, a suspension, a failure. A body that is replayed
   * gives them anew; those of `execute` do not count for `checkCompletion`. What `fn` throws is rolled back and fails the attempt, as if
   * the body had thrown it. It may be called more often than it commits: what it does beside the manager belongs elsewhere.
   *
   * @throws InvalidStepError (`INVALID_STEP`) for what is no function, inside a step, and in `cancel(ctx)`. The attempt fails with
   * InvalidOptionsError (`INVALID_OPTIONS`) on the in-memory store of tests
   */
  recordWith<M extends TransactionManager = TransactionManager>(fn: (manager: M) => unknown): void;

  /**
   * Plain asynchronous work beside a wait: the stage is not suspended while it runs. Nothing of it is recorded, and it runs
   * again at every replay.
   *
   * @throws what `fn` throws
   */
  local<T>(fn: () => T | Promise<T>): Promise<T>;

  /**
   * `return ctx.suspend({ every: '1m', state: { jobId } })`: the work goes on elsewhere, and `checkCompletion(state, ctx)`
   * of this class is asked when it is done (WAIT-6). Must be returned.
   *
   * @throws InvalidStepError (`INVALID_STEP`) for bad options. A class without `checkCompletion` does not compile under
   * `@Stage`; where types were left out the stage fails `NO_COMPLETION_CHECK`.
   */
  suspend(options: SuspendOptions): Suspended;

  /** Writes a line through Nest's Logger with the ids of run and stage, and into the run's history. @param level 'log' */
  log(message: string, level?: LogLevel): void;

  /** How far the stage is: the latest one is stored and shown. `total` only where it is known. */
  progress(done: number, total?: number, message?: string): void;

  /**
   * Notes a fact about the run or this stage, JSON, to be found by key. Stored with the attempt's outcome, or not at all.
   *
   * @throws InvalidOutputError (`INVALID_OUTPUT`) for a value that JSON cannot hold
   */
  annotate(key: string, value: unknown, options?: AnnotateOptions): void;
}

export type LogLevel = 'log' | 'warn' | 'error';

export interface AnnotateOptions {
  /** What the fact is about. @default 'stage' */
  scope?: 'run' | 'stage';
}

export interface RunInfo {
  readonly id: string;
  /** Id of the definition. */
  readonly definition: string;
  readonly version: number;
  /** What the run is about, or null; `ctx.subject()` loads it. */
  readonly subject: SubjectName | null;
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
