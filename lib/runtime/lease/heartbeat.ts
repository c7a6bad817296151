import type { LeaseState, WorkflowStore } from '../../engine/ports/index.js';
import { BackgroundLoop } from '../background/background-loop.js';
import type { Outages } from '../background/outages.js';
import type { RuntimeLog } from '../background/runtime-log.js';
import type { Attempt } from '../execution/attempt.js';
import type { LiveSteps } from '../steps/live-steps.js';
import type { LiveAttempts } from './live-attempts.js';

export interface HeartbeatParts {
  readonly store: Pick<WorkflowStore, 'extendLeases' | 'extendSteps' | 'isTransient'>;
  readonly live: LiveAttempts;
  readonly steps: LiveSteps;
  readonly outages: Outages;
  readonly log: RuntimeLog;
  /** `lease.heartbeatInterval` in milliseconds. */
  readonly everyMs: number;
}

/**
 * Extends all leases of this process in one statement an interval, those included whose outcome still waits to be written
 * (LEASE-2), and the leases of step bodies that are at it, their attempts over or not (STEP-6). Learns by it which attempts are over: their bodies' signals fire with `lease-lost` or `cancelled`.
 *
 * Runs while something is held, by whatever way it was claimed, so it goes on through a shutdown until the last outcome is
 * written (fault C16). While the database is away it tries again by the backoff, not by the interval.
 */
export class Heartbeat {
  readonly #loop: BackgroundLoop;

  constructor(private readonly parts: HeartbeatParts) {
    this.#loop = new BackgroundLoop({
      name: 'heartbeat',
      work: () => this.#beat(),
      everyMs: parts.everyMs,
      isTransient: (error) => parts.store.isTransient(error),
      outages: parts.outages,
      log: parts.log,
    });
    parts.live.onChange = () => this.#followHeld();
    parts.steps.onChange = () => this.#followHeld();
  }

  /** Extends every lease held now. Never rejects. */
  runOnce(): Promise<void> {
    return this.#loop.runOnce();
  }

  /** Ends the beat although leases are held: the process gives them up. */
  async stop(): Promise<void> {
    this.parts.live.onChange = undefined;
    this.parts.steps.onChange = undefined;
    await this.#loop.stop();
  }

  #followHeld(): void {
    const { live, steps } = this.parts;
    if (live.size > 0 || steps.size > 0) this.#loop.start();
    else void this.#loop.stop();
  }

  async #beat(): Promise<void> {
    await this.check(this.parts.live.all());
    const leases = this.parts.steps.leases();
    if (leases.length > 0) await this.parts.store.extendSteps(leases);
  }

  /** Extends these leases, and tells the attempts whose leases or runs are over. Rejects with what the store throws. */
  async check(attempts: readonly Attempt[]): Promise<void> {
    const held = attempts.filter((attempt) => !attempt.leaseLost && !attempt.cancelled);
    if (held.length === 0) return;
    const states = await this.parts.store.extendLeases(held.map(({ lease }) => lease));
    for (const attempt of held) {
      // Its body has ended: the fence of its record tells, and a record in flight may have moved the lease on already.
      if (attempt.over || attempt.recording) continue;
      const state = stateOf(states, attempt);
      // A cancel hook's run is cancelled: that is what it is for.
      if (state === 'cancelled' && attempt.job.kind === 'execute') attempt.abort('cancelled');
      else if (state === 'lost') this.#lose(attempt);
    }
  }

  #lose(attempt: Attempt): void {
    const { run, stageRun } = attempt.job;
    attempt.abort('lease-lost');
    this.parts.log.warn(
      `The lease on stage ${stageRun.key} (${stageRun.id}) of run ${run.id}, attempt ${stageRun.attempt}, was lost: ` +
        'its result will not be stored. Look for long blocking code or lost connections.',
    );
  }
}

/** What the store doesn't speak of is held: a lease is lost only when it says so. */
function stateOf(states: ReadonlyMap<string, LeaseState>, { lease }: Attempt): LeaseState {
  return states.get(lease.jobId) ?? 'held';
}
