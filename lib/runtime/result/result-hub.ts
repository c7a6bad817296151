import type { FinishedRun, Notifier, OwnerScope, RunDetails, WorkflowStore } from '../../engine/ports/index.js';
import { formatDuration } from '../../engine/time/index.js';
import { ResultTimeoutError, ShuttingDownError } from '../../errors/index.js';
import type { Deadline, Deadlines } from '../background/deadlines.js';
import type { Outages } from '../background/outages.js';
import { errorLine, errorStack, type RuntimeLog } from '../background/runtime-log.js';
import { ResultWaiter } from './result-waiter.js';

export interface ResultHubParts {
  readonly store: Pick<WorkflowStore, 'awaitRuns' | 'readFinished' | 'isTransient'>;
  readonly notifier: Pick<Notifier, 'subscribe'>;
  readonly deadlines: Deadlines;
  readonly outages: Outages;
  readonly log: RuntimeLog;
}

export interface ResultOptions {
  /** @default no limit */
  readonly timeoutMs?: number;
  /** The wait ends with the signal's reason. */
  readonly signal?: AbortSignal;
  /** The run is created as awaited, after this call: it need not be marked, and its end can't have been missed. @default false */
  readonly marked?: boolean;
}

/** Polling grows slower from the first to the second: hints tell nearly all ends before. */
const FIRST_POLL_MS = 250;
const SLOWEST_POLL_MS = 2_000;
/** Ids in one statement. */
const PAGE = 500;
/** Read as the engine: whose a run is, is compared with each waiter's scope. */
const EVERYBODY: OwnerScope = { all: true };

/**
 * Lets callers of this process wait for the ends of runs (RUN-4): told at once of what ends here, by hints of what ends
 * elsewhere, and by polling of what no hint told, one statement for all waiters.
 */
export class ResultHub {
  readonly #waiters = new Map<string, Set<ResultWaiter>>();
  /** Told to have ended, to be read in the next round. */
  readonly #told = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #pollMs = FIRST_POLL_MS;
  #pollDue = false;
  #scheduled = false;
  #working = false;
  #stopped = false;
  #unsubscribe: (() => void) | undefined;

  constructor(private readonly parts: ResultHubParts) {}

  start(): void {
    this.#stopped = false;
    this.#unsubscribe ??= this.parts.notifier.subscribe(({ finished }) => {
      if (finished) this.#tell(finished);
    });
  }

  /**
   * Resolves with the run once it is COMPLETED, FAILED or CANCELLED. A run outside `scope` never ends: look whether it is
   * there first. @throws ResultTimeoutError, ShuttingDownError, the signal's reason
   */
  wait(
    runId: string,
    scope: OwnerScope,
    { timeoutMs, signal, marked = false }: ResultOptions = {},
  ): Promise<RunDetails> {
    if (this.#stopped) return Promise.reject(new ShuttingDownError({ what: `Waiting for run ${runId}` }));
    if (signal?.aborted) return Promise.reject(signal.reason as Error);
    return new Promise((resolve, reject) => {
      let deadline: Deadline | undefined;
      const onAbort = (): void => waiter.reject(signal?.reason);
      const forget = (): void => {
        this.parts.deadlines.drop(deadline);
        signal?.removeEventListener('abort', onAbort);
        this.#forget(waiter);
      };
      const waiter = new ResultWaiter(runId, scope, { resolve, reject, forget });
      waiter.marked = marked;
      signal?.addEventListener('abort', onAbort, { once: true });
      if (timeoutMs !== undefined) {
        const timeout = formatDuration(timeoutMs);
        deadline = this.parts.deadlines.add(timeoutMs, () => waiter.reject(new ResultTimeoutError({ runId, timeout })));
      }
      this.#add(waiter);
    });
  }

  /** Runs that ended, as this process recorded it. */
  finished(runs: readonly FinishedRun[]): void {
    this.#tell(runs.map(({ runId }) => runId));
  }

  /** Reads what was told and marks who is new; with `poll`, looks at everybody. Never rejects. */
  async runOnce(poll = true): Promise<void> {
    if (this.#working) return;
    this.#working = true;
    try {
      const told = this.#takeTold();
      await this.#mark();
      await this.#read(poll ? [...this.#waiters.keys()] : told);
      this.parts.outages.recovered('waiting for results');
      if (this.#told.size > 0 || this.#anyUnmarked()) this.#schedule();
    } catch (error) {
      // The poll comes to it again, at its own pace.
      if (this.parts.store.isTransient(error)) this.parts.outages.failed('waiting for results', error);
      else this.parts.log.error(`Reading results failed: ${errorLine(error)}`, errorStack(error));
    } finally {
      this.#working = false;
    }
    this.#armPoll();
  }

  /** Rejects everybody who waits with ShuttingDownError: before the host's server closes (fault K38). */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
    for (const waiters of [...this.#waiters.values()]) {
      for (const waiter of [...waiters])
        waiter.reject(new ShuttingDownError({ what: `Waiting for run ${waiter.runId}` }));
    }
  }

  #add(waiter: ResultWaiter): void {
    const others = this.#waiters.get(waiter.runId);
    if (others) others.add(waiter);
    else this.#waiters.set(waiter.runId, new Set([waiter]));
    this.#pollMs = FIRST_POLL_MS;
    if (!waiter.marked) this.#schedule();
    this.#armPoll();
  }

  #forget(waiter: ResultWaiter): void {
    const others = this.#waiters.get(waiter.runId);
    others?.delete(waiter);
    if (others?.size === 0) this.#waiters.delete(waiter.runId);
    if (this.#waiters.size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #tell(runIds: readonly string[]): void {
    for (const runId of runIds) if (this.#waiters.has(runId)) this.#told.add(runId);
    if (this.#told.size > 0) this.#schedule();
  }

  /** All that is told in one turn of the event loop is one statement. */
  #schedule(): void {
    if (this.#scheduled || this.#stopped) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      const poll = this.#pollDue;
      this.#pollDue = false;
      void this.runOnce(poll);
    });
  }

  #armPoll(): void {
    if (this.#timer || this.#stopped || this.#waiters.size === 0) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#pollDue = true;
      this.#pollMs = Math.min(this.#pollMs * 1.5, SLOWEST_POLL_MS);
      this.#schedule();
    }, this.#pollMs);
  }

  async #mark(): Promise<void> {
    const unmarked = [...this.#waiters.values()].flatMap((waiters) => [...waiters].filter(({ marked }) => !marked));
    const runIds = [...new Set(unmarked.map(({ runId }) => runId))];
    for (let from = 0; from < runIds.length; from += PAGE) {
      this.#deliver(await this.parts.store.awaitRuns(runIds.slice(from, from + PAGE), EVERYBODY));
    }
    for (const waiter of unmarked) waiter.marked = true;
  }

  async #read(runIds: readonly string[]): Promise<void> {
    for (let from = 0; from < runIds.length; from += PAGE) {
      this.#deliver(await this.parts.store.readFinished(runIds.slice(from, from + PAGE), EVERYBODY));
    }
  }

  #deliver(runs: readonly RunDetails[]): void {
    for (const run of runs) {
      for (const waiter of [...(this.#waiters.get(run.id) ?? [])]) if (waiter.mayRead(run)) waiter.resolve(run);
    }
  }

  #takeTold(): string[] {
    const told = [...this.#told].filter((runId) => this.#waiters.has(runId));
    this.#told.clear();
    return told;
  }

  #anyUnmarked(): boolean {
    for (const waiters of this.#waiters.values()) for (const { marked } of waiters) if (!marked) return true;
    return false;
  }
}
