import { concatMap, filter, from, ignoreElements, map, merge, type Observable } from 'rxjs';
import { isPlainText, MAX_KEY_LENGTH } from '../../engine/codec/index.js';
import type { OwnerScope } from '../../engine/ports/index.js';
import type { RunStatus } from '../../engine/state/statuses.js';
import { InvalidOptionsError, UndefinedIdError } from '../../errors/index.js';
import type {
  RerunOptions,
  RerunResult,
  RunHandle,
  SignalOptions,
  SignalResult,
  TransactionManager,
  WorkflowClass,
  WorkflowEvent,
  WorkflowOutput,
} from '../../interfaces/index.js';
import type { EventStream } from '../events/event-stream.js';
import { reasonOf } from '../operations/reason-of.js';
import type { SignalSender } from '../messages/signal-sender.js';
import type { RunCommands } from './run-commands.js';
import { runIdOf } from './run-id.js';
import type { RunReader } from './run-reader.js';
import type { ResultOptions, RunResults } from './run-results.js';
import type { ListRunsOptions, RunHistoryView, RunPage, RunView } from './run-views.js';

export interface CommandOptions {
  /** Takes part in this open transaction: rolled back, nothing happened. READ COMMITTED only. */
  readonly manager?: TransactionManager;
}

export interface ReasonedOptions extends CommandOptions {
  /** Why: kept in the audit, told to whoever is asked whether it is allowed. Cut after 1,000 characters. */
  readonly reason?: string;
}

export interface RunAccessParts {
  readonly reader: RunReader;
  readonly commands: RunCommands;
  readonly results: RunResults;
  readonly signals: SignalSender;
  readonly stream: EventStream;
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
   * A run with all its stage runs: their steps, waits, log lines and failed attempts; earlier generations included.
   *
   * @throws RunNotFoundError
   */
  async history(run: RunHandle | string): Promise<RunHistoryView> {
    return this.#parts.reader.history(runIdOf(run, 'history'), await this.scopeOf('history'));
  }

  /**
   * Events of runs within the scope that this process relays, from now on; other processes relay others. The scope is asked for when
   * this is called, not when it is subscribed to. Completes at shutdown, and errs where there is no scope.
   */
  events(): Observable<WorkflowEvent> {
    const scope = this.scopeOf('events');
    // Subscribers are told; with none there is nobody to tell.
    scope.catch(() => undefined);
    const seen = this.#parts.stream.events().pipe(
      concatMap(async (event) => ({ event, within: isWithin(await scope, event.owner) })),
      filter(({ within }) => within),
      map(({ event }) => event),
    );
    return merge(from(scope).pipe(ignoreElements()), seen);
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
   * Cancels a run without calling any hook: neither now, nor when a body that still runs ends, nor of children that were waited for.
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
  async retry(run: RunHandle | string, options: ReasonedOptions = {}): Promise<void> {
    const runId = runIdOf(run, 'retry');
    await this.#parts.commands.retry({
      runId,
      scope: await this.scopeOf('retry'),
      manager: options.manager,
      where: 'retry',
      reason: reasonOf(options.reason, 'retry'),
    });
  }

  /**
   * Lets a run that has ended go on from one of its nodes: earlier outputs are kept, that node and all later ones run anew, in
   * a new generation; what they did before stays in the history. Children are started anew, `ctx.once` effects are not.
   *
   * @param node key of a node; that of a branch means its whole parallel node
   * @throws RunNotRerunnableError saying why and what to do instead; RunNotFoundError; InvalidOptionsError;
   * TransactionRequiredError
   */
  async rerunFrom(run: RunHandle | string, node: string, options: RerunOptions = {}): Promise<RerunResult> {
    const where = 'rerunFrom';
    const runId = runIdOf(run, where);
    if (node === undefined || node === null || node === '')
      throw new UndefinedIdError({ what: 'node', where, hint: 'the key of a node, as in history()' });
    // What is asked for is kept in the audit, whether there is such a node or not.
    if (!isPlainText(node, MAX_KEY_LENGTH)) {
      const message = `must be a text of 1 to ${MAX_KEY_LENGTH} characters, without U+0000`;
      throw new InvalidOptionsError({ where, problems: [{ path: 'node', message }] });
    }
    const { idempotencyKey, manager } = options;
    if (idempotencyKey !== undefined && (typeof idempotencyKey !== 'string' || idempotencyKey === '')) {
      const problems = [{ path: 'idempotencyKey', message: 'must be a text that is not empty' }];
      throw new InvalidOptionsError({ where, problems });
    }
    const scope = await this.scopeOf(where);
    const reason = reasonOf(options.reason, where);
    return this.#parts.commands.rerun({ runId, scope, node, idempotencyKey, manager, where, reason });
  }

  /**
   * Moves a run that is not done to another version of its definition, on purpose: what it has done stays, what it does next
   * follows that version. It must be served here and have the nodes that the run has been at, with the same stages, in the
   * same order. Not while one of its stages runs.
   *
   * @throws RunNotMigratableError with everything that stands against it; RunNotFoundError; InvalidOptionsError;
   * TransactionRequiredError
   */
  async migrateRun(run: RunHandle | string, version: number, options: ReasonedOptions = {}): Promise<void> {
    const where = 'migrateRun';
    const runId = runIdOf(run, where);
    if (version === undefined || version === null) throw new UndefinedIdError({ what: 'version', where });
    if (!Number.isInteger(version) || version < 1) {
      const problems = [{ path: 'version', message: 'must be an integer from 1 on' }];
      throw new InvalidOptionsError({ where, problems });
    }
    const scope = await this.scopeOf(where);
    const reason = reasonOf(options.reason, where);
    await this.#parts.commands.migrate({ runId, scope, version, manager: options.manager, where, reason });
  }

  /**
   * Sends a signal to a run: the wait for its name gets it (`ctx.step.waitForSignal`), the one awaited last where there are
   * several; where there is none yet, it is kept for the next one.
   *
   * @param payload JSON of at most `limits.maxOutputBytes` @default null
   * @throws RunEndedError when the run had ended first; RunNotFoundError; InvalidEventError with everything that is wrong;
   * TransactionRequiredError
   */
  async signal(
    run: RunHandle | string,
    name: string,
    payload?: unknown,
    options: SignalOptions = {},
  ): Promise<SignalResult> {
    const where = 'signal';
    const runId = runIdOf(run, where);
    return this.#parts.signals.signal({ runId, scope: await this.scopeOf(where), name, payload, options, where });
  }

  async #end(
    where: 'cancel' | 'terminate',
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
      reason: reasonOf(reason, where),
      hooks,
    });
  }
}

function isWithin(scope: OwnerScope, owner: string | null): boolean {
  return 'all' in scope || scope.owner === owner;
}
