import type { Hint } from '../engine/ports/index.js';
import type { StoredEvent } from '../engine/ports/index.js';
import { isTerminalRun } from '../engine/state/statuses.js';
import { RunNotFoundError, ShuttingDownError } from '../errors/index.js';
import { errorLine, errorStack, type RuntimeLog } from '../runtime/background/runtime-log.js';
import { within } from '../runtime/background/within.js';
import type { EnginePort } from '../services/engine-port.js';
import type { DrivenEngine } from '../services/workflow-host.js';
import type { EngineRuntime } from './engine-runtime.js';
import type { EngineStorage } from './engine-storage.js';
import { WakeInterval } from './wake-interval.js';
import type { SchedulerRegistryLike } from './host-providers.js';

export interface EngineParts {
  readonly storage: EngineStorage;
  readonly runtime: EngineRuntime;
  readonly definitions: EnginePort['definitions'];
  readonly graphs: EnginePort['graphs'];
  readonly nextId: EnginePort['nextId'];
  readonly log: RuntimeLog;
  readonly shutdownGraceMs: number;
  /** Milliseconds between wake passes; null = only by hand. */
  readonly wakeEveryMs: number | null;
  /** Whether this process executes jobs by itself. */
  readonly executes: boolean;
}

/** How long the parts other than the worker may take to end, each. */
const CLOSE_MS = 5_000;

/**
 * An engine on an open store. It answers services at once; `start` sets everything in motion that moves by itself, `stop`
 * ends it within bounds, whatever hangs.
 */
export class Engine implements EnginePort, DrivenEngine {
  readonly #parts: EngineParts;
  #interval: WakeInterval | undefined;
  #unsubscribe: (() => void) | undefined;
  #stopped: Promise<void> | undefined;
  #drained = false;

  constructor(parts: EngineParts) {
    this.#parts = parts;
    parts.runtime.results.start();
  }

  get store(): EnginePort['store'] {
    return this.#parts.storage.store;
  }

  get definitions(): EnginePort['definitions'] {
    return this.#parts.definitions;
  }

  get graphs(): EnginePort['graphs'] {
    return this.#parts.graphs;
  }

  get nextId(): EnginePort['nextId'] {
    return this.#parts.nextId;
  }

  get runtime(): EngineRuntime {
    return this.#parts.runtime;
  }

  readonly announceWithin: EnginePort['announceWithin'] = (transaction, hint) =>
    this.#parts.storage.announceWithin(transaction, hint);

  announce(hint: Hint): void {
    const { worker, link, relay, results, family } = this.#parts.runtime;
    this.#parts.storage.notifier.publish(hint);
    if (hint.cancelled) {
      void worker.cancelled(hint.cancelled);
      link?.cancelled(hint.cancelled);
      // They may have children that were waited for, or be such.
      family.kick();
    }
    if (hint.work) (link ?? worker).kick();
    if (hint.finished) results.finished(hint.finished.map((runId) => ({ runId, status: 'CANCELLED', awaited: true })));
    // Whatever is announced was told to the outbox too.
    relay.kick();
  }

  eventEmitted(event: StoredEvent): void {
    this.#match(this.#parts.runtime.matcher.matchEvent(event));
  }

  /** What fails here the wake pass finds: events count as unmatched until their matching has ended. */
  #match(matching: Promise<unknown>): void {
    const { log } = this.#parts;
    matching.catch((error: unknown) => {
      if (this.store.isTransient(error)) log.debug(`Events are matched later: ${errorLine(error)}`);
      else log.error(`Matching events failed: ${errorLine(error)}`, errorStack(error));
    });
  }

  dueIn(ms: number): void {
    this.#parts.runtime.dueTimer.note(ms);
  }

  readonly waitForEnd: EnginePort['waitForEnd'] = async (runId, scope, { timeoutMs, signal, created = false }) => {
    if (!created) {
      const row = await this.store.getRun(runId, scope);
      if (!row) throw new RunNotFoundError({ runId });
      if (isTerminalRun(row.status)) return row;
    }
    // Created as awaited a moment ago: nothing to mark, and polling covers an end told in between.
    return this.#parts.runtime.results.wait(runId, scope, { timeoutMs, signal, marked: created });
  };

  readonly processAvailable: DrivenEngine['processAvailable'] = async (options) => {
    this.#refuseDrained('processAvailable');
    return this.#parts.runtime.pump.processAvailable(options);
  };

  readonly handleJob: DrivenEngine['handleJob'] = async (message) => {
    this.#refuseDrained('handleJob');
    return this.#parts.runtime.pump.handleJob(message);
  };

  drain(graceMs: number = this.#parts.shutdownGraceMs): Promise<void> {
    this.#drained = true;
    return this.#stopExecuting(graceMs);
  }

  /** Begins to claim, to wake and to relay. */
  async start(registry: SchedulerRegistryLike | undefined): Promise<void> {
    const { storage, runtime, executes, wakeEveryMs } = this.#parts;
    await storage.notifier.start();
    this.#unsubscribe = storage.notifier.subscribe(({ events, cancelled }) => {
      if (events) this.#match(runtime.matcher.sweep(0));
      // Told inside a transaction of the host's, it is heard here and nowhere else.
      if (cancelled) runtime.family.kick();
    });
    runtime.relay.start();
    runtime.dueTimer.start();
    runtime.waitTimer.start();
    runtime.scheduleTimer.start();
    runtime.family.start();
    if (runtime.link) await runtime.link.start(executes);
    else if (executes) runtime.worker.start();
    if (wakeEveryMs === null) return;
    this.#interval = new WakeInterval(wakeEveryMs, () => void runtime.pass.runOnce(), registry);
    this.#interval.start();
  }

  /**
   * Ends everything (LEASE-6): waiters are rejected first, then running bodies have their grace, then what served them goes,
   * the store last. Never rejects, and never takes longer than the grace and some seconds (fault K14).
   */
  stop(): Promise<void> {
    return (this.#stopped ??= this.#end());
  }

  async #end(): Promise<void> {
    const { storage, runtime, shutdownGraceMs } = this.#parts;
    this.#drained = true;
    runtime.results.stop();
    this.#unsubscribe?.();
    this.#interval?.stop();
    await Promise.all([
      this.#stopExecuting(shutdownGraceMs),
      this.#ended('the due timer', runtime.dueTimer.stop()),
      this.#ended('the timer of waits', runtime.waitTimer.stop()),
      this.#ended('the timer of schedules', runtime.scheduleTimer.stop()),
      this.#ended('the delivery of children', runtime.family.stop()),
      this.#ended('the matching of events', runtime.matcher.stop()),
      this.#ended('a wake pass', runtime.pass.stop()),
    ]);
    // After the worker: its last outcomes have events too.
    await runtime.relay.stop(CLOSE_MS);
    await this.#ended('the notifier', storage.notifier.stop());
    await this.#ended('the store', storage.store.close());
  }

  async #stopExecuting(graceMs: number): Promise<void> {
    const { worker, link } = this.#parts.runtime;
    await Promise.all([link?.stop(graceMs), worker.stop(graceMs)]);
  }

  /** A drained runner hands back whatever it is given: claiming for it would go round in circles. */
  #refuseDrained(call: string): void {
    if (this.#drained) throw new ShuttingDownError({ what: `The call of ${call}` });
  }

  async #ended(what: string, work: Promise<unknown>): Promise<void> {
    const { log } = this.#parts;
    const reported = work.catch((error: unknown) => log.warn(`Closing ${what} failed: ${errorLine(error)}`));
    if (!(await within(CLOSE_MS, reported)))
      log.warn(`Closing ${what} takes longer than ${CLOSE_MS} ms; it is left behind.`);
  }
}
