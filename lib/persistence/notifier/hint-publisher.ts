import type { Hint } from '../../engine/ports/notifier.js';
import { encodeHint } from './hint-payload.js';

/** Pause after a send: a busy process sends some hundred hints a second, not one per commit. */
const MIN_GAP_MS = 5;

/**
 * Gathers hints and sends them on, at most one send at a time: the first at once, what comes meanwhile as one.
 *
 * Never throws. What can't be sent is dropped, since polling finds the same.
 */
export class HintPublisher {
  private work = false;
  private events = false;
  private readonly cancelled = new Set<string>();
  private readonly finished = new Set<string>();
  private sending: Promise<void> | undefined;

  /** @param sender by which receivers tell their own hints; left out: nobody ignores them */
  constructor(
    private readonly send: (payloads: string[]) => Promise<void>,
    private readonly sender?: string,
  ) {}

  publish(hint: Hint): void {
    if (hint.work) this.work = true;
    if (hint.events) this.events = true;
    for (const id of hint.cancelled ?? []) this.cancelled.add(id);
    for (const id of hint.finished ?? []) this.finished.add(id);
    if (this.isEmpty()) return;
    this.sending ??= this.drain();
  }

  /** Resolves when everything published so far was sent or dropped. */
  async settled(): Promise<void> {
    await this.sending;
  }

  private async drain(): Promise<void> {
    // Whatever else this turn of the event loop publishes comes along.
    await new Promise((resolve) => setImmediate(resolve));
    while (!this.isEmpty()) {
      const payloads = this.take();
      await this.send(payloads).catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, MIN_GAP_MS));
    }
    // In the same turn as the check above: a hint published later starts anew.
    this.sending = undefined;
  }

  private take(): string[] {
    const hint = {
      work: this.work,
      events: this.events,
      cancelled: [...this.cancelled],
      finished: [...this.finished],
    };
    const payloads = encodeHint(hint, this.sender);
    this.work = false;
    this.events = false;
    this.cancelled.clear();
    this.finished.clear();
    return payloads;
  }

  private isEmpty(): boolean {
    return !this.work && !this.events && this.cancelled.size === 0 && this.finished.size === 0;
  }
}
