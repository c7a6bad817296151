import type { LeaseLimits, WakeProbe, WorkflowStore } from '../../engine/ports/index.js';
import { errorLine, errorStack, type RuntimeLog } from '../background/runtime-log.js';
import type { Outages } from '../background/outages.js';
import type { LeaseReaper } from '../lease/lease-reaper.js';
import type { OutboxRelay } from '../outbox/outbox-relay.js';
import type { DueTimer } from './due-timer.js';
import type { OverdueRuns } from './overdue-runs.js';
import type { StuckRuns } from './stuck-runs.js';
import { type WakeReport, WakeTally } from './wake-report.js';

export interface WakePassParts {
  readonly store: Pick<WorkflowStore, 'probe' | 'promoteDelayed' | 'requeueSent' | 'pruneKeys' | 'now' | 'isTransient'>;
  readonly reaper: LeaseReaper;
  readonly stuck: StuckRuns;
  readonly overdue: OverdueRuns;
  readonly relay: Pick<OutboxRelay, 'flush'>;
  readonly dueTimer: Pick<DueTimer, 'note'>;
  /** Jobs became due: reaped, promoted or pushed again. */
  readonly onDue: (jobs: number) => void;
  readonly limits: LeaseLimits;
  readonly stuckAfterMs: number;
  /** `requeueAfter`: messages older than this count as lost. */
  readonly requeueAfterMs: number;
  /** `wake.batch`: rows of one kind in one statement. */
  readonly batch: number;
  readonly outages: Outages;
  readonly log: RuntimeLog;
}

/** Pages of expired keys removed in one pass: pruning has time. */
const PRUNE_PAGES = 10;

/**
 * One pass over everything that time alone makes due (WAKE-1). Any number of processes may wake at once, each due thing
 * happens once; what one pass misses the next one finds. A pass with nothing to do costs one statement.
 */
export class WakePass {
  #current: Promise<WakeReport> | undefined;

  constructor(private readonly parts: WakePassParts) {}

  /** The tick: a pass by the database's clock, or the one that runs already (WAKE-7). Never rejects. */
  runOnce(): Promise<WakeReport> {
    return this.#current ?? this.#begin(undefined);
  }

  /**
   * A pass after the one that runs. With `now`, what is due is judged at that instant; leases, stuck runs and pruning stay
   * on the database's clock (WAKE-5). Never rejects: a part that fails is in the report's `errors`.
   */
  async wake(now?: Date): Promise<WakeReport> {
    while (this.#current) await this.#current;
    return this.#begin(now);
  }

  /** Waits for the pass that runs. */
  async stop(): Promise<void> {
    await this.#current;
  }

  #begin(now: Date | undefined): Promise<WakeReport> {
    const pass = this.#pass(now).finally(() => (this.#current = undefined));
    this.#current = pass;
    return pass;
  }

  async #pass(now: Date | undefined): Promise<WakeReport> {
    const tally = new WakeTally();
    let aheadMs = 0;
    let probe: WakeProbe | undefined;
    await this.#part(tally, 'probe', async () => {
      aheadMs = now ? await this.#ahead(now) : 0;
      const { limits, stuckAfterMs, requeueAfterMs, store } = this.parts;
      probe = await store.probe({ ...limits, stuckAfterMs, requeueAfterMs, aheadMs });
      this.parts.outages.recovered('wake pass');
    });
    if (probe) await this.#parts(tally, probe, aheadMs);
    return tally.report();
  }

  async #parts(tally: WakeTally, probe: WakeProbe, aheadMs: number): Promise<void> {
    const { reaper, stuck, overdue, relay, store, batch, onDue } = this.parts;
    if (probe.expiredLeases) {
      await this.#part(tally, 'leases', async () => {
        const reclaimed = await reaper.runOnce();
        tally.add('reclaimed', reclaimed);
        if (reclaimed > 0) onDue(reclaimed);
      });
    }
    if (probe.delayedDue) await this.#part(tally, 'delayed jobs', () => this.#promote(tally, aheadMs));
    else if (probe.nextDelayedInMs !== null) this.parts.dueTimer.note(probe.nextDelayedInMs);
    if (probe.sentOverdue) await this.#part(tally, 'lost messages', () => this.#requeue(tally));
    if (probe.deadlineDue) {
      await this.#part(tally, 'deadlines', async () => tally.add('timeouts', await overdue.runOnce(aheadMs)));
    }
    if (probe.outboxDue) await this.#part(tally, 'outbox', async () => tally.add('flushed', await relay.flush()));
    if (probe.stuckSuspects) {
      await this.#part(tally, 'stuck runs', async () => {
        const { requeued, failed } = await stuck.runOnce();
        tally.add('requeued', requeued);
        tally.add('stuck', failed);
        if (requeued > 0) onDue(requeued);
      });
    }
    if (probe.expiredKeys) {
      await this.#part(tally, 'start keys', async () => {
        for (let page = 0; page < PRUNE_PAGES; page++) {
          const pruned = await store.pruneKeys(batch);
          tally.add('pruned', pruned);
          if (pruned < batch) return;
        }
      });
    }
  }

  async #promote(tally: WakeTally, aheadMs: number): Promise<void> {
    const { store, batch, onDue, dueTimer } = this.parts;
    for (;;) {
      const { promoted, retries, nextInMs } = await store.promoteDelayed(batch, aheadMs);
      tally.add('retries', retries);
      if (promoted > 0) onDue(promoted);
      if (promoted === batch) continue;
      if (nextInMs !== null) dueTimer.note(nextInMs);
      return;
    }
  }

  async #requeue(tally: WakeTally): Promise<void> {
    const { store, batch, onDue, requeueAfterMs } = this.parts;
    for (;;) {
      const requeued = await store.requeueSent(requeueAfterMs, batch);
      tally.add('requeued', requeued);
      if (requeued > 0) onDue(requeued);
      if (requeued < batch) return;
    }
  }

  async #ahead(now: Date): Promise<number> {
    const clock = Date.parse(await this.parts.store.now());
    return Math.max(0, now.getTime() - clock);
  }

  /** Each part in an error boundary of its own: the next ones are done all the same. */
  async #part(tally: WakeTally, part: string, work: () => Promise<unknown>): Promise<void> {
    const { store, outages, log } = this.parts;
    try {
      await work();
    } catch (error) {
      tally.errors.push({ part, message: errorLine(error) });
      if (store.isTransient(error)) outages.failed('wake pass', error);
      else log.error(`The part "${part}" of a wake pass failed: ${errorLine(error)}`, errorStack(error));
    }
  }
}
