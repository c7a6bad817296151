import type { OwnerScope, RunDetails } from '../../engine/ports/index.js';

/** Somebody who waits for the end of a run. */
export class ResultWaiter {
  /** The store knows that the run's end is awaited. */
  marked = false;
  #settled = false;

  constructor(
    readonly runId: string,
    readonly scope: OwnerScope,
    private readonly callbacks: {
      readonly resolve: (run: RunDetails) => void;
      readonly reject: (reason: unknown) => void;
      readonly forget: (waiter: ResultWaiter) => void;
    },
  ) {}

  /** Another owner's run never ends for this waiter (OWNER-5). */
  mayRead(run: RunDetails): boolean {
    return 'all' in this.scope || this.scope.owner === run.ownerId;
  }

  resolve(run: RunDetails): void {
    if (this.#settle()) this.callbacks.resolve(run);
  }

  reject(reason: unknown): void {
    if (this.#settle()) this.callbacks.reject(reason);
  }

  #settle(): boolean {
    if (this.#settled) return false;
    this.#settled = true;
    this.callbacks.forget(this);
    return true;
  }
}
