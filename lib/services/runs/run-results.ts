import type { OwnerScope } from '../../engine/ports/index.js';
import { parseDurationMs, type Duration } from '../../engine/time/index.js';
import { InvalidOptionsError, type MessageOverrides, RunCancelledError, RunFailedError } from '../../errors/index.js';
import type { EngineReady } from '../engine-port.js';
import { toRunView } from './read-views.js';
import type { RunView } from './run-views.js';

export interface ResultOptions {
  /** How long to wait; the run goes on afterwards. @default until it ends */
  readonly timeout?: Duration;
  /** Stops the waiting, not the run. */
  readonly signal?: AbortSignal;
}

/** Waits for the ends of runs. */
export class RunResults {
  readonly #ready: EngineReady;
  readonly #messages: MessageOverrides;

  constructor(ready: EngineReady, messages: MessageOverrides) {
    this.#ready = ready;
    this.#messages = messages;
  }

  /**
   * @throws RunFailedError, RunCancelledError, ResultTimeoutError, ShuttingDownError, RunNotFoundError, or the signal's
   * reason
   */
  async result(
    runId: string,
    scope: OwnerScope,
    { timeout, signal, created }: ResultOptions & { readonly created?: boolean },
    where: string,
  ): Promise<unknown> {
    if (signal !== undefined && typeof signal?.addEventListener !== 'function') {
      throw new InvalidOptionsError({ where, problems: [{ path: 'signal', message: 'must be an AbortSignal' }] });
    }
    const timeoutMs = timeout === undefined ? undefined : parseDurationMs(timeout, `timeout of ${where}`);
    signal?.throwIfAborted();
    const engine = await this.#ready();
    return outcomeOf(toRunView(await engine.waitForEnd(runId, scope, { timeoutMs, signal, created }), this.#messages));
  }
}

function outcomeOf(run: RunView): unknown {
  if (run.status === 'CANCELLED') throw new RunCancelledError({ runId: run.id, reason: run.cancelReason });
  if (run.status === 'FAILED') {
    const { code, message, node } = run.failure ?? { code: 'UNKNOWN', message: '', node: null };
    throw new RunFailedError({
      runId: run.id,
      workflow: run.definition,
      failureCode: code,
      failureMessage: message,
      node,
    });
  }
  return run.output;
}
