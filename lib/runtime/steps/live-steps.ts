import type { StepLease } from '../../engine/ports/index.js';
import type { Attempt } from '../execution/attempt.js';

/**
 * Step bodies that are at it in this process, those included whose attempt is over: until a body ends, nobody else may begin
 * it (STEP-6).
 */
export class LiveSteps {
  readonly #held = new Map<StepLease, Attempt>();
  /** Told when the first begins and when the last has ended. */
  onChange: (() => void) | undefined;

  get size(): number {
    return this.#held.size;
  }

  hold(attempt: Attempt, key: string, leaseMs: number): { done(): void } {
    const { stageRunId, token } = attempt.lease;
    const lease: StepLease = { stageRunId, key, token, leaseMs };
    this.#held.set(lease, attempt);
    if (this.#held.size === 1) this.onChange?.();
    return {
      done: () => {
        if (this.#held.delete(lease) && this.#held.size === 0) this.onChange?.();
      },
    };
  }

  /** Lets go of what this attempt holds. */
  drop(attempt: Attempt): void {
    for (const [lease, holder] of this.#held) if (holder === attempt) this.#held.delete(lease);
    if (this.#held.size === 0) this.onChange?.();
  }

  /** Leases to extend: not those of attempts that lost theirs, whose results nobody will have. */
  leases(): StepLease[] {
    return [...this.#held].filter(([, attempt]) => !attempt.leaseLost).map(([lease]) => lease);
  }
}
