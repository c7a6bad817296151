import type { WorkflowStore } from '../../engine/ports/index.js';
import { nextTimerMs } from '../../engine/time/index.js';
import { BackgroundLoop } from '../background/background-loop.js';
import type { Outages } from '../background/outages.js';
import type { RuntimeLog } from '../background/runtime-log.js';

export interface DueTimerParts {
  readonly store: Pick<WorkflowStore, 'promoteDelayed' | 'isTransient'>;
  /** Jobs became due. */
  readonly onDue: (promoted: number) => void;
  readonly outages: Outages;
  readonly log: RuntimeLog;
  /** Most rows promoted in one statement. */
  readonly batch: number;
  readonly now?: () => number;
}

/** Durations are measured here and instants in the database: a little later than exact is still in time, earlier is in vain. */
const MARGIN_MS = 2;

/**
 * Knows when the next delayed job becomes due, as far as this process recorded it or its last wake pass saw it, and makes
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
      name: 'due jobs',
      work: () => this.#promote(),
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

  async #promote(): Promise<void> {
    const { store, batch, onDue } = this.parts;
    for (;;) {
      const { promoted, nextInMs } = await store.promoteDelayed(batch, 0);
      if (promoted > 0) onDue(promoted);
      if (promoted === batch) continue;
      if (nextInMs !== null) this.note(nextInMs);
      return;
    }
  }
}
