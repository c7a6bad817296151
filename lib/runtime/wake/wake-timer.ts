import { nextTimerMs } from '../../engine/time/index.js';
import type { WakePass } from './wake-pass.js';

/** Ticks where the host has no scheduler of its own that could (WAKE-7). A tick while a pass runs is that pass. */
export class WakeTimer {
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly pass: Pick<WakePass, 'runOnce'>,
    /** `wake.every` in milliseconds. */
    private readonly everyMs: number,
  ) {}

  start(): void {
    this.#timer ??= setInterval(() => void this.pass.runOnce(), nextTimerMs(this.everyMs));
  }

  /** No tick from now on; a pass that runs goes on. */
  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
