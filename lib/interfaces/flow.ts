import type { z } from 'zod';
import type { Duration } from '../engine/time/duration.js';
import type { RetryPolicy } from '../engine/retry/retry-policy.js';
import type { Schema } from './stage-schemas.js';
import type { ConfigOf, InputOf, OutputOf, StageClass } from './stage-handler.js';

declare const flowOutput: unique symbol;

/**
 * The pipeline that `define(flow)` builds, node by node. Each call returns the flow so far: chain the calls and return
 * the last one.
 *
 * @typeParam I schema of the run's input.
 * @typeParam Prev what the last node yields; what the next one is given.
 * @typeParam Stored the same as it is stored, which is what `when` sees: differs only before the first node.
 */
export interface Flow<I extends Schema, Prev = z.output<I>, Stored = z.input<I>> {
  /** Never present: carries the type of what the flow yields. */
  readonly [flowOutput]?: Prev;

  /** One stage. Its key is the stage's id, unless `key` says otherwise (needed when a stage stands twice). */
  pipe<T extends StageClass, const O extends NodeOptions<T, Stored, I> = NodeOptions<T, Stored, I>>(
    stage: T & Fits<Prev, T>,
    ...options: ConfigIsOptional<T> extends true ? [options?: O] : [options: O]
  ): Flow<I, Followed<O, T>, Followed<O, T>>;

  /**
   * Stages side by side, each given what the node before yielded. Yields an object of their outputs, by branch name;
   * the name is the stage's key. The node after waits for every branch.
   */
  parallel<B extends Record<string, Branch<Stored, I>>>(
    branches: B & { [K in keyof B]: Fits<Prev, StageOf<B[K]>> & BranchConfig<B[K]> },
    options?: ParallelOptions,
  ): Flow<I, BranchOutputs<B>, BranchOutputs<B>>;
}

/** What `when` is asked with, when its node is entered. */
export interface WhenInput<Stored, RunInput> {
  /** What the node before yielded, as stored: this stage's input schema has not parsed it yet. */
  readonly input: Stored;
  readonly run: { readonly id: string; readonly input: RunInput };
}

/** How one stage stands in a pipeline. Overrides count for this node only. */
export interface NodeSettings<Stored, I extends Schema> {
  /** Asked when the node is entered; false = the stage is SKIPPED. Must be pure: no clock, no randomness, no I/O. */
  when?: (context: WhenInput<Stored, z.input<I>>) => boolean;
  /** Instead of the workflow's, the stage's and the module's policy, whole (RETRY-1). */
  retry?: RetryPolicy;
  /** Most running time of one attempt, instead of the stage's. Milliseconds, or as in `'30s'`. */
  timeout?: Duration;
  /** Instead of the stage's queue. */
  queue?: string;
}

export type NodeOptions<T, Stored, I extends Schema> = NodeSettings<Stored, I> & { key?: string } & ConfigOption<T>;

export interface ParallelOptions {
  /** Key of the group, for `rerunFrom`. @default `parallel-1`, `parallel-2`, … */
  key?: string;
}

export type Branch<Stored, I extends Schema> =
  StageClass | ({ stage: StageClass; config?: unknown } & NodeSettings<Stored, I>);

type ConfigIsOptional<T> = {} extends ConfigOf<T> ? true : ConfigOf<T> extends undefined ? true : false;

type ConfigOption<T> =
  {} extends ConfigOf<T>
    ? { config?: ConfigOf<T> }
    : ConfigOf<T> extends undefined
      ? { config?: undefined }
      : { config: ConfigOf<T> };

// An optional `when`, as in the default of O, does not match.
type Followed<O, T> = O extends { when: (...args: any[]) => any } ? OutputOf<T> | undefined : OutputOf<T>;

/** `unknown`, or a sentence that the compiler prints. */
export type Fits<Prev, T> = [Prev] extends [InputOf<T>]
  ? unknown
  : { error: 'The output before this stage does not fit its input'; given: Prev; wanted: InputOf<T> };

type StageOf<B> = B extends { stage: infer T extends StageClass } ? T : B extends StageClass ? B : never;

type BranchOutputs<B> = {
  [K in keyof B]: B[K] extends { stage: infer T; when: any } ? OutputOf<T> | undefined : OutputOf<StageOf<B[K]>>;
};

type BranchConfig<B> =
  {} extends ConfigOf<StageOf<B>>
    ? { config?: ConfigOf<StageOf<B>> } | StageOf<B>
    : ConfigOf<StageOf<B>> extends undefined
      ? { config?: undefined } | StageOf<B>
      : { stage: StageOf<B>; config: ConfigOf<StageOf<B>> };
