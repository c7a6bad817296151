import type { OwnerScope } from '../../engine/ports/index.js';
import type { RunStatus } from '../../engine/state/statuses.js';
import type { RunHandle, TransactionManager, WorkflowClass, WorkflowOutput } from '../../interfaces/index.js';
import type { RunCommands } from './run-commands.js';
import { runIdOf } from './run-id.js';
import type { RunReader } from './run-reader.js';
import type { ResultOptions, RunResults } from './run-results.js';
import type { ListRunsOptions, RunHistoryView, RunPage, RunView } from './run-views.js';

export interface CommandOptions {
  /** Takes part in this open transaction: rolled back, nothing happened. READ COMMITTED only. */
  readonly manager?: TransactionManager;
}

export interface RunAccessParts {
  readonly reader: RunReader;
  readonly commands: RunCommands;
  readonly results: RunResults;
}

/**
 * Reads and changes runs within a scope: the owner of the caller, or all owners for an operator. A run outside the scope
 * reads as missing.
 *
 * @publicApi
 */
export abstract class RunAccess {
  readonly #parts: RunAccessParts;

  constructor(parts: RunAccessParts) {
    this.#parts = parts;
  }

  /** Whose runs a call may see; asked at every call. */
  protected abstract scopeOf(where: string): Promise<OwnerScope>;

  /**
   * One run with its payloads.
   *
   * @throws RunNotFoundError
   */
  async get(run: RunHandle | string): Promise<RunView> {
    return this.#parts.reader.get(runIdOf(run, 'get'), await this.scopeOf('get'));
  }

  /**
   * Runs without their payloads, newest first, a page at a time.
   *
   * @throws InvalidOptionsError
   */
  async list(options: ListRunsOptions = {}): Promise<RunPage> {
    return this.#parts.reader.list(options, await this.scopeOf('list'), 'list');
  }

  /** How many runs there are by status, of one definition or of all. */
  async count(definition?: string): Promise<Record<RunStatus, number>> {
    return this.#parts.reader.count(definition, await this.scopeOf('count'));
  }

  /**
   * A run with all its stage runs and failed attempts, earlier generations included.
   *
   * @throws RunNotFoundError
   */
  async history(run: RunHandle | string): Promise<RunHistoryView> {
    return this.#parts.reader.history(runIdOf(run, 'history'), await this.scopeOf('history'));
  }

  /**
   * Waits until a run has ended and resolves with its output; the type comes from the handle, or from the workflow class.
   *
   * @throws RunFailedError or RunCancelledError as the run ended; ResultTimeoutError after `timeout`; ShuttingDownError
   * when this process stops first; RunNotFoundError; the signal's reason. The run itself goes on in each case.
   */
  result<O>(run: RunHandle<O>, options?: ResultOptions): Promise<O>;
  result<W extends WorkflowClass>(runId: string, workflow: W, options?: ResultOptions): Promise<WorkflowOutput<W>>;
  result(runId: string, options?: ResultOptions): Promise<unknown>;
  async result(
    run: RunHandle | string,
    second?: WorkflowClass | ResultOptions,
    third?: ResultOptions,
  ): Promise<unknown> {
    const options = (typeof second === 'function' ? third : second) ?? {};
    return this.#parts.results.result(runIdOf(run, 'result'), await this.scopeOf('result'), options, 'result');
  }

  /**
   * Cancels a run: in one transaction it ends CANCELLED and everything open in it; running bodies are told by their abort
   * signal, whatever they still return is discarded, and the `cancel(ctx)` hooks of stages that had begun run afterwards.
   *
   * Resolves when the cancel won. Never waits for the bodies.
   *
   * @throws RunNotCancellableError when the run ended first; its `params.status` says how. RunNotFoundError.
   * TransactionRequiredError
   */
  async cancel(run: RunHandle | string, reason?: string, options: CommandOptions = {}): Promise<void> {
    await this.#end('cancel', run, reason, options, true);
  }

  /**
   * Cancels a run without calling any hook.
   *
   * @throws as `cancel`
   */
  async terminate(run: RunHandle | string, reason?: string, options: CommandOptions = {}): Promise<void> {
    await this.#end('terminate', run, reason, options, false);
  }

  /**
   * Tries the failed stage of a FAILED run again, with a fresh budget of attempts; completed stages keep their outputs.
   *
   * @throws RunNotRetryableError saying why and what to do instead; RunNotFoundError; TransactionRequiredError
   */
  async retry(run: RunHandle | string, options: CommandOptions = {}): Promise<void> {
    const runId = runIdOf(run, 'retry');
    await this.#parts.commands.retry({
      runId,
      scope: await this.scopeOf('retry'),
      manager: options.manager,
      where: 'retry',
    });
  }

  async #end(
    where: string,
    run: RunHandle | string,
    reason: string | undefined,
    { manager }: CommandOptions,
    hooks: boolean,
  ): Promise<void> {
    const runId = runIdOf(run, where);
    await this.#parts.commands.cancel({
      runId,
      scope: await this.scopeOf(where),
      manager,
      where,
      reason: reason ?? null,
      hooks,
    });
  }
}
