import type { MaySuspend } from '../interfaces/stage-handler.js';

/** `unknown` unless a class suspends itself and nothing would ever end it; then a sentence that the compiler prints. */
export type EndsItself<T> =
  MaySuspend<T> extends true
    ? // oxlint-disable-next-line typescript/no-explicit-any -- `unknown` would refuse every class with a parameter
      T extends abstract new (...args: any[]) => { checkCompletion(state: any, ctx: any): unknown }
      ? unknown
      : { error: 'The stage returns ctx.suspend(…), but its class has no checkCompletion(state, ctx)' }
    : unknown;
