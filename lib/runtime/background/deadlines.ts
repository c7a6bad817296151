import { nextTimerMs } from '../../engine/time/index.js';

export interface Deadline {
  /** Instant on the process's own monotonic clock, in milliseconds. */
  readonly at: number;
  readonly reached: () => void;
}

/**
 * Time limits of whatever runs in this process, on one timer for all of them: setting and dropping one is cheap, because
 * nearly all are dropped before they are reached.
 */
export class Deadlines {
  readonly #open = new Set<Deadline>();
  #timer: NodeJS.Timeout | undefined;
  #armedFor = Infinity;

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Calls `reached` once, `inMs` from now, any length (fault B1), unless the deadline is dropped before. */
  add(inMs: number, reached: () => void): Deadline {
    const deadline = { at: this.now() + inMs, reached };
    this.#open.add(deadline);
    if (deadline.at < this.#armedFor) this.#arm(deadline.at);
    return deadline;
  }

  drop(deadline: Deadline | undefined): void {
    if (!deadline || !this.#open.delete(deadline) || this.#open.size > 0) return;
    clearTimeout(this.#timer);
    this.#armedFor = Infinity;
  }

  #arm(at: number): void {
    clearTimeout(this.#timer);
    this.#armedFor = at;
    this.#timer = setTimeout(() => this.#fire(), nextTimerMs(at - this.now()));
  }

  #fire(): void {
    this.#armedFor = Infinity;
    const now = this.now();
    let next = Infinity;
    for (const deadline of this.#open) {
      if (deadline.at <= now) {
        this.#open.delete(deadline);
        deadline.reached();
      } else if (deadline.at < next) next = deadline.at;
    }
    if (next < this.#armedFor) this.#arm(next);
  }
}
