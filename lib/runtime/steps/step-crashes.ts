/** Where a process is to die: when the step's outcome is written, or when its body has run and it is not. */
export type CrashPoint = 'recorded' | 'unrecorded';

/**
 * Crashes on demand, for tests of what a stage does when its process dies: the attempt stops where it is, nothing more of
 * it is written, and its leases end by themselves.
 */
export class StepCrashes {
  readonly #armed = new Map<string, CrashPoint>();

  /** The next attempt that ends a step of this name dies there. */
  arm(step: string, point: CrashPoint): void {
    this.#armed.set(step, point);
  }

  /** Whether this step's end is one to die at; once. */
  take(step: string): CrashPoint | undefined {
    if (this.#armed.size === 0) return undefined;
    const point = this.#armed.get(step);
    this.#armed.delete(step);
    return point;
  }
}
