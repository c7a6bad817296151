import { nextTimerMs } from '../../engine/time/index.js';
import { detached } from './detached.js';
import type { Outages } from './outages.js';
import { errorLine, errorStack, type RuntimeLog } from './runtime-log.js';

export interface BackgroundLoopOptions {
  /** Names the service in the log. */
  readonly name: string;
  /** One round. What it throws ends the round, never the loop. */
  readonly work: () => Promise<unknown>;
  /** Pause between rounds in milliseconds; null = only when kicked. */
  readonly everyMs: number | null;
  /** Part of the pause that is random, so that processes started together drift apart. @default 0 */
  readonly jitter?: number;
  readonly isTransient: (error: unknown) => boolean;
  readonly outages: Outages;
  readonly log: RuntimeLog;
  readonly random?: () => number;
}

/**
 * The anatomy that all background services share: rounds that never overlap, are kicked or come by the clock, and whose
 * errors never escape. After an error that passes (the database is away) the next round comes by the outage's backoff
 * instead of the clock. They run in nobody's asynchronous context, whoever kicked them.
 */
export class BackgroundLoop {
  #running = false;
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> | undefined;
  #kicked = false;

  constructor(private readonly options: BackgroundLoopOptions) {}

  get running(): boolean {
    return this.#running;
  }

  /** Begins by the clock: the first round comes after one pause, or with the first kick. Twice is once (fault G14). */
  start(): void {
    if (this.#running) return;
    this.#running = true;
    this.#arm(this.#pauseMs());
  }

  /** Lets no new round begin and waits for the one that runs. */
  async stop(): Promise<void> {
    this.#running = false;
    this.#kicked = false;
    clearTimeout(this.#timer);
    await this.#round;
  }

  /** A round as soon as possible; kicks while one runs make one more. */
  kick(): void {
    if (!this.#running) return;
    if (this.#round) this.#kicked = true;
    else this.#arm(0);
  }

  /** One round now, after the one that runs. Never rejects. */
  async runOnce(): Promise<void> {
    while (this.#round) await this.#round;
    this.#round = this.#once();
    await this.#round;
  }

  async #once(): Promise<void> {
    clearTimeout(this.#timer);
    const { name, work, outages, log, isTransient } = this.options;
    let next = this.#pauseMs();
    try {
      await work();
      outages.recovered(name);
    } catch (error) {
      if (isTransient(error)) next = outages.failed(name, error);
      else log.error(`${name} failed: ${errorLine(error)}`, errorStack(error));
    }
    this.#round = undefined;
    if (!this.#running) return;
    if (this.#kicked) next = Math.min(next ?? 0, 0);
    this.#kicked = false;
    this.#arm(next);
  }

  #arm(ms: number | null): void {
    clearTimeout(this.#timer);
    if (ms === null) return;
    this.#timer = detached(() => setTimeout(() => void this.runOnce(), nextTimerMs(ms)));
  }

  #pauseMs(): number | null {
    const { everyMs, jitter = 0, random = Math.random } = this.options;
    return everyMs === null ? null : everyMs * (1 + jitter * (2 * random() - 1));
  }
}
