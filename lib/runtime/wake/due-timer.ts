import type { WorkflowStore } from '../../engine/ports/index.js';
import { nextTimerMs } from '../../engine/time/index.js';
import { BackgroundLoop } from '../background/background-loop.js';
import type { Outages } from '../background/outages.js';
import type { RuntimeLog } from '../background/runtime-log.js';

export interface DueTimerParts {
  /** Names it in the log. */
  readonly name: string;
  /** Makes due what is, all of it. Answers in how many milliseconds the next one is, or null. */
  readonly makeDue: () => Promise<number | null>;
  readonly store: Pick<WorkflowStore, 'isTransient'>;
  readonly outages: Outages;
  readonly log: RuntimeLog;
  readonly now?: () => number;
}

/** Durations are measured here and instants in the database: a little later than exact is still in time, earlier is in vain. */
const MARGIN_MS = 2;

/**
 * Knows when the next of its kind (a delayed job, a wait) becomes due, as far as this process recorded it or its last wake pass saw it, and makes
 * it due then instead of at the next tick (WAKE-6). The tick is the net below it.
 */
export class DueTimer {
  readonly #loop: BackgroundLoop;
  readonly #now: () => number;
  #timer: NodeJS.Timeout | undefined;
  #dueAt = Infinity;
  #stopped = true;

  constructor(private readonly parts: DueTimerParts) {
    this.#now = parts.now ?? (() => performance.now());
    this.#loop = new BackgroundLoop({
      name: parts.name,
      work: () => this.#makeDue(),
      everyMs: null,
      isTransient: (error) => parts.store.isTransient(error),
      outages: parts.outages,
      log: parts.log,
    });
  }

  start(): void {
    this.#stopped = false;
    this.#loop.start();
    if (this.#dueAt < Infinity) this.#arm();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#loop.stop();
  }

  /** Something becomes due in so many milliseconds. Any length (fault B1); later than what is known already changes nothing. */
  note(inMs: number): void {
    const at = this.#now() + inMs + MARGIN_MS;
    if (at >= this.#dueAt) return;
    this.#dueAt = at;
    if (!this.#stopped) this.#arm();
  }

  /** Makes due what is. Never rejects. */
  runOnce(): Promise<void> {
    return this.#loop.runOnce();
  }

  #arm(): void {
    clearTimeout(this.#timer);
    const left = this.#dueAt - this.#now();
    this.#timer = setTimeout(() => {
      if (this.#now() < this.#dueAt) return this.#arm();
      this.#dueAt = Infinity;
      this.#loop.kick();
    }, nextTimerMs(left));
  }

  async #makeDue(): Promise<void> {
    const nextInMs = await this.parts.makeDue();
    if (nextInMs !== null) this.note(nextInMs);
  }
}
