import { setTimeout as delay } from 'node:timers/promises';

/** Slows stages down by a fixed time, so that a person can look on and press Ctrl-C in the middle. */
export class Pace {
  /** @param milliseconds per stage; 0 for full speed */
  constructor(readonly milliseconds: number) {}

  /** Ends early, by throwing the signal's reason, when the stage is cancelled or the app shuts down. */
  async wait(signal?: AbortSignal): Promise<void> {
    if (this.milliseconds <= 0) return;
    try {
      await delay(this.milliseconds, undefined, { signal });
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    }
  }
}
