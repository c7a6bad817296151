import { encodeJson } from '../../engine/codec/index.js';
import type { JsonText } from '../../engine/state/rows.js';
import { parseDurationMs } from '../../engine/time/index.js';
import { InvalidStepError } from '../../errors/index.js';
import type { Suspended, SuspendOptions } from '../../interfaces/index.js';

/** `Symbol.for`: a stage may have been built against another copy of the package. */
const SUSPENDED = Symbol.for('nestjs-workflow-engine:suspended');

/** What an asynchronous stage waits with, checked; kept between its checks. */
export interface Suspending {
  readonly everyMs: number;
  readonly maxWaitMs: number | null;
  readonly state: unknown;
}

/** What `ctx.suspend(options)` returns (WAIT-6). @throws InvalidStepError, InvalidDurationError */
export function suspended(options: SuspendOptions): Suspended {
  if (options?.every === undefined) {
    throw new InvalidStepError({ what: 'ctx.suspend', problems: [{ path: 'every', message: 'must be a duration' }] });
  }
  const suspending: Suspending = {
    everyMs: parseDurationMs(options.every, 'every'),
    maxWaitMs: options.maxWait === undefined ? null : parseDurationMs(options.maxWait, 'maxWait'),
    state: options.state ?? null,
  };
  return { [SUSPENDED]: suspending } as unknown as Suspended;
}

/** What the body asked for by returning `ctx.suspend(…)`, or undefined when it returned anything else. */
export function suspendingOf(value: unknown): Suspending | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, SUSPENDED)) return undefined;
  return (value as Record<symbol, Suspending>)[SUSPENDED];
}

/** @throws InvalidOutputError for a state that JSON can't hold */
export const completionState = (state: Suspending, what: string, maxBytes: number): JsonText =>
  encodeJson(state, { what, maxBytes, limit: 'limits.maxOutputBytes' });
