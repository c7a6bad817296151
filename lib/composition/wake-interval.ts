import { nextTimerMs } from '../engine/time/index.js';
import type { SchedulerRegistryLike } from './host-providers.js';

/** Name of the interval in the host's SchedulerRegistry (WAKE-7). */
export const WAKE_INTERVAL = 'workflow-wake';

/**
 * The clock of the wake pass: an interval that the host sees in its SchedulerRegistry, or one of its own where there is
 * none. Started twice it is one; never overlapping is the pass's own business.
 */
export class WakeInterval {
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly everyMs: number,
    private readonly tick: () => void,
    private readonly registry: SchedulerRegistryLike | undefined,
  ) {}

  start(): void {
    if (this.#timer) return;
    this.#timer = setInterval(this.tick, nextTimerMs(this.everyMs));
    // A host that registered the name itself keeps it: deleting it would stop the host's own interval.
    if (this.registry && !this.registry.doesExist('interval', WAKE_INTERVAL))
      this.registry.addInterval(WAKE_INTERVAL, this.#timer);
  }

  stop(): void {
    if (!this.#timer) return;
    clearInterval(this.#timer);
    const timer = this.#timer;
    this.#timer = undefined;
    if (this.registry?.doesExist('interval', WAKE_INTERVAL) && this.#isOurs(timer))
      this.registry.deleteInterval(WAKE_INTERVAL);
  }

  #isOurs(timer: NodeJS.Timeout): boolean {
    const registry = this.registry as SchedulerRegistryLike & { getInterval?: (name: string) => unknown };
    return registry.getInterval?.(WAKE_INTERVAL) === timer;
  }
}
