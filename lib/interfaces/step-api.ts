import type { z } from 'zod';
import type { Duration } from '../engine/time/duration.js';
import type { Schema } from './stage-schemas.js';
import type {
  DetachChild,
  EventWaitOptions,
  PollOptions,
  ReturnOnTimeout,
  SignalWaitOptions,
  StepAllOptions,
  StepBodyContext,
  StepRunOptions,
  ThrowOnTimeout,
  TimedResult,
  WaitForChild,
} from './step-options.js';
import type { Stored } from './stored.js';
import type { WorkflowClass, WorkflowInput, WorkflowOutput } from './workflow-blueprint.js';

/**
 * `ctx.step`: durable calls inside a stage body. Each has a row in the ledger of the stage run; after a crash, a retry or
 * a wait the body runs again from its beginning, and calls that have an outcome answer with it instead of doing it again.
 *
 * A step is named by its name and by the how-manieth call of that name it is, so names may repeat in a loop. In branches
 * that run side by side give each its own (`` `save:${id}` ``), or use `all`. What lies between the steps runs at every
 * replay: keep it free of effects, and let it depend on nothing but input and outcomes.
 *
 * Several calls may be awaited together with `Promise.all`, `race` and `allSettled`. While a stage waits it holds no memory
 * and no connection: the body is dropped, its `finally` does not run, and plain timers beside a wait never win a race.
 *
 * A step that the body began and never looked at is awaited in its place once it has returned: the stage is not over before it is,
 * and fails with what it fails with. A wait that nobody awaits holds nothing up.
 *
 * Every call throws `InvalidStepError` (`INVALID_STEP`) for a bad name or option, `StepMismatchError` (`STEP_MISMATCH`)
 * when the name was recorded for another kind of step, and `StepNestedError` (`STEP_NESTED`) inside a step's body. What a
 * step fails with reaches the body as it was recorded: decide by `WorkflowError.is(error) && error.code === '…'`, never by
 * class.
 *
 * @publicApi
 */
export interface StepApi {
  /**
   * Does `fn` once, and gives what it returned as it is stored: JSON of at most `limits.maxOutputBytes`.
   *
   * At least once: a process that dies between the effect and its record does it again, under the same
   * `idempotencyKey`. Never two bodies of one step at the same time, as long as a lease (`leaseFor`) holds. A failure is
   * recorded once the tries of `retry` are used up, and opened again by the stage's own retry.
   *
   * @throws what `fn` threw; InvalidOutputError (`INVALID_OUTPUT`) for a value that JSON cannot hold
   */
  run<T>(
    name: string,
    fn: (step: StepBodyContext) => T | Promise<T>,
    options?: StepRunOptions,
  ): Promise<Stored<Awaited<T>>>;

  /**
   * `fn` for each item, each in a scope of its own: the steps it calls on the `step` it is given have their own names.
   * Results in the order of the items. What some items have done stays done when the stage is retried; a failing item fails
   * the call as in `Promise.all`.
   *
   * The scope is the item's place: `items` must be the same list, in the same order, at every replay.
   */
  all<T, R>(
    name: string,
    items: readonly T[],
    fn: (item: T, step: StepApi, index: number) => Promise<R>,
    options?: StepAllOptions,
  ): Promise<R[]>;

  /** Waits this long from when it is first awaited, months too. A restart does not begin it anew. */
  sleep(name: string, duration: Duration): Promise<void>;

  /** Waits until this instant, on the database's clock; past = at once. A text is ISO 8601 with its zone. */
  sleepUntil(name: string, date: Date | string): Promise<void>;

  /**
   * Polls: `fn` is called now and then every `every`, until it gives anything but false, null or undefined. Between polls
   * nothing is held. A poll that throws fails the step.
   *
   * @throws WaitTimeoutError (`WAIT_TIMEOUT`) unless `onTimeout` is 'return'
   */
  waitFor<T>(
    name: string,
    fn: (step: StepBodyContext) => Polled<T> | Promise<Polled<T>>,
    options: PollOptions & ReturnOnTimeout,
  ): Promise<TimedResult<Stored<T>>>;
  waitFor<T>(
    name: string,
    fn: (step: StepBodyContext) => Polled<T> | Promise<Polled<T>>,
    options: PollOptions & ThrowOnTimeout,
  ): Promise<Stored<T>>;

  /**
   * Waits for an event that `WorkflowService.emit` tells of: same key, same owner, the subject and the condition where they
   * are given. One that came earlier, up to `events.retention` ago, counts; one event ends at most one wait of a run.
   *
   * @throws InvalidWhereError (`INVALID_WHERE`); WaitTimeoutError (`WAIT_TIMEOUT`) unless `onTimeout` is 'return';
   * InvalidInputError (`INVALID_INPUT`) when the payload does not fit `schema`
   */
  waitForEvent<S extends Schema = Schema>(
    name: string,
    options: EventWaitOptions<S> & ReturnOnTimeout,
  ): Promise<TimedResult<z.output<S>>>;
  waitForEvent<S extends Schema = Schema>(
    name: string,
    options: EventWaitOptions<S> & ThrowOnTimeout,
  ): Promise<z.output<S>>;

  /**
   * Waits for a signal that `WorkflowService.signal` sends to this run. One that came earlier is kept for the next wait of
   * its name, oldest first.
   *
   * @throws WaitTimeoutError (`WAIT_TIMEOUT`) unless `onTimeout` is 'return'; InvalidInputError (`INVALID_INPUT`) when the
   * payload does not fit `schema`
   */
  waitForSignal<S extends Schema = Schema>(
    name: string,
    options: SignalWaitOptions<S> & ReturnOnTimeout,
  ): Promise<TimedResult<z.output<S>>>;
  waitForSignal<S extends Schema = Schema>(
    name: string,
    options?: SignalWaitOptions<S> & ThrowOnTimeout,
  ): Promise<z.output<S>>;

  /**
   * Starts a run of another workflow, for the same owner, and gives its output; with `wait: false` its id at once. However
   * often the body is replayed, it is one child; a rerun starts another.
   *
   * @throws InvalidInputError (`INVALID_INPUT`); LimitExceededError (`NESTING_DEPTH_EXCEEDED`); ChildNotStartedError
   * (`CHILD_NOT_STARTED`), which the stage retries; ChildRunError (`CHILD_RUN_FAILED`) when the child failed or was
   * cancelled
   */
  runWorkflow<W extends WorkflowClass>(
    name: string,
    workflow: W,
    input: WorkflowInput<W>,
    options: DetachChild,
  ): Promise<StartedChild>;
  runWorkflow<W extends WorkflowClass>(
    name: string,
    workflow: W,
    input: WorkflowInput<W>,
    options?: WaitForChild,
  ): Promise<WorkflowOutput<W>>;
  runWorkflow(name: string, id: string, input: unknown, options: DetachChild): Promise<StartedChild>;
  runWorkflow(name: string, id: string, input: unknown, options?: WaitForChild): Promise<unknown>;
}

/** What a poll gives: a value, or one of those that stand for "not yet". */
export type Polled<T> = T | false | null | undefined;

/** A child that nobody waits for. */
export interface StartedChild {
  readonly runId: string;
}
