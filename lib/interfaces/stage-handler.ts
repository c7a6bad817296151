import type { AcceptedInput, GivenConfig, ReturnedOutput, StageSchemas, StoredOutput } from './stage-schemas.js';
import type { CompletionCheck } from './completion-check.js';
import type { Outcome } from './outcome.js';
import type { Skipped } from './skipped.js';
import type { StageContext } from './stage-context.js';
import type { Suspended } from './suspended.js';

/**
 * What a `@Stage` class implements.
 *
 * The body may run more than once: after a crash, a lost lease or a failed attempt. Its result is stored once.
 */
export interface StageHandler<S extends StageSchemas = StageSchemas> {
  /** The work. Must name its `ctx`: that is where the types of the stage are read from. */
  execute(
    ctx: StageContext<S>,
  ): Promise<ReturnedOutput<S> | Outcome | Skipped | Suspended> | ReturnedOutput<S> | Outcome | Skipped | Suspended;

  /**
   * Asked after `execute` returned `ctx.suspend(…)`, outside any transaction, until it says ready or failed; what it throws
   * is retried. Needed by stages that suspend themselves.
   *
   * @param state as given to `ctx.suspend`, or by the last check, after JSON
   */
  checkCompletion?(
    state: any,
    ctx: StageContext<S>,
  ): Promise<CompletionCheck<ReturnedOutput<S>>> | CompletionCheck<ReturnedOutput<S>>;

  /** Undo, called after a cancel has been committed; again if a body ends after it, and again when it throws. */
  cancel?(ctx: StageContext<S>): Promise<void> | void;
}

// `any`: a class's constructor takes what it likes, and `unknown[]` would refuse every constructor with a parameter.
export type StageClass<S extends StageSchemas = any> = abstract new (...args: any[]) => StageHandler<S>;

/** The schemas that `execute(ctx: StageContext<S>)` names; `'NO_CTX'` for a body that takes no context. */
export type SchemasOf<T> = T extends abstract new (...args: any[]) => { execute(ctx: infer C): any }
  ? unknown extends C
    ? 'NO_CTX'
    : C extends StageContext<infer S>
      ? S
      : never
  : never;

type BodyResult<T> = T extends abstract new (...args: any[]) => { execute(ctx: any): infer R } ? Awaited<R> : never;

// A body typed `any` says nothing about skipping.
type MaySkip<T> = 0 extends 1 & BodyResult<T>
  ? false
  : [Extract<BodyResult<T>, Skipped>] extends [never]
    ? false
    : true;

/** Whether the body may `return ctx.suspend(…)`. */
export type MaySuspend<T> = 0 extends 1 & BodyResult<T>
  ? false
  : [Extract<BodyResult<T>, Suspended>] extends [never]
    ? false
    : true;

/** What may be handed to the stage. */
export type InputOf<T> = AcceptedInput<SchemasOf<T>>;

/** What the stage yields when it was not skipped. */
export type PresentOutputOf<T> = StoredOutput<SchemasOf<T>>;

/** What followers see: the stored output, or undefined where the body may `return ctx.skip(…)`. */
export type OutputOf<T> = MaySkip<T> extends true ? PresentOutputOf<T> | undefined : PresentOutputOf<T>;

/** What a definition writes as `config` for the stage. */
export type ConfigOf<T> = GivenConfig<SchemasOf<T>>;
