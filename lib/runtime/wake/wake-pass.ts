import type { LeaseLimits, WakeProbe, WorkflowStore } from '../../engine/ports/index.js';
import { errorLine, errorStack, type RuntimeLog } from '../background/runtime-log.js';
import type { Outages } from '../background/outages.js';
import type { LeaseReaper } from '../lease/lease-reaper.js';
import type { OutboxRelay } from '../outbox/outbox-relay.js';
import type { Family } from '../children/family.js';
import type { EventMatcher } from '../events/event-matcher.js';
import type { Schedules } from '../triggers/schedules.js';
import type { DelayedJobs } from './delayed-jobs.js';
import type { DueTimer } from './due-timer.js';
import type { DueWaits } from './due-waits.js';
import type { OverdueRuns } from './overdue-runs.js';
import type { StuckRuns } from './stuck-runs.js';
import { type WakeReport, WakeTally } from './wake-report.js';

export interface WakePassParts {
  readonly store: Pick<WorkflowStore, 'probe' | 'requeueSent' | 'pruneKeys' | 'pruneEvents' | 'now' | 'isTransient'>;
  readonly matcher: Pick<EventMatcher, 'sweep'>;
  readonly family: Pick<Family, 'runOnce'>;
  readonly delayed: DelayedJobs;
  readonly waits: DueWaits;
  readonly schedules: Pick<Schedules, 'runOnce'>;
  readonly reaper: LeaseReaper;
  readonly stuck: StuckRuns;
  readonly overdue: OverdueRuns;
  readonly relay: Pick<OutboxRelay, 'flush'>;
  readonly dueTimer: Pick<DueTimer, 'note'>;
  readonly waitTimer: Pick<DueTimer, 'note'>;
  readonly scheduleTimer: Pick<DueTimer, 'note'>;
  /** Jobs became due: reaped, promoted or pushed again. */
  readonly onDue: (jobs: number) => void;
  readonly limits: LeaseLimits;
  readonly stuckAfterMs: number;
  /** `requeueAfter`: messages older than this count as lost. */
  readonly requeueAfterMs: number;
  /** `events.retention`. */
  readonly eventRetentionMs: number;
  /** `wake.batch`: rows of one kind in one statement. */
  readonly batch: number;
  readonly outages: Outages;
  readonly log: RuntimeLog;
}

/** Pages of expired keys, or events, removed in one pass: pruning has time. */
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
      const { limits, stuckAfterMs, requeueAfterMs, eventRetentionMs, store } = this.parts;
      probe = await store.probe({ ...limits, stuckAfterMs, requeueAfterMs, eventRetentionMs, aheadMs });
      this.parts.outages.recovered('wake pass');
    });
    if (probe) await this.#parts(tally, probe, aheadMs);
    return tally.report();
  }

  /** In the order of WAKE-1. */
  async #parts(tally: WakeTally, probe: WakeProbe, aheadMs: number): Promise<void> {
    const { matcher, family, overdue, relay } = this.parts;
    if (probe.unmatched) await this.#part(tally, 'events', () => matcher.sweep());
    if (probe.childrenEnded || probe.orphans) await this.#part(tally, 'children', () => family.runOnce());
    if (probe.expiredLeases) await this.#part(tally, 'leases', () => this.#reap(tally));
    if (probe.sentOverdue) await this.#part(tally, 'lost messages', () => this.#requeue(tally));
    if (probe.waitsDue || probe.eventWaitsOverdue) await this.#part(tally, 'waits', () => this.#fire(tally, aheadMs));
    else if (probe.nextWaitInMs !== null) this.parts.waitTimer.note(probe.nextWaitInMs);
    if (probe.delayedDue) await this.#part(tally, 'delayed jobs', () => this.#promote(tally, aheadMs));
    else if (probe.nextDelayedInMs !== null) this.parts.dueTimer.note(probe.nextDelayedInMs);
    if (probe.schedulesDue) await this.#part(tally, 'schedules', () => this.#schedule(tally, aheadMs));
    else if (probe.nextScheduleInMs !== null) this.parts.scheduleTimer.note(probe.nextScheduleInMs);
    if (probe.deadlineDue) {
      await this.#part(tally, 'deadlines', async () => tally.add('timeouts', await overdue.runOnce(aheadMs)));
    }
    if (probe.outboxDue) await this.#part(tally, 'outbox', async () => tally.add('flushed', await relay.flush()));
    if (probe.stuckSuspects) await this.#part(tally, 'stuck runs', () => this.#unstick(tally));
    await this.#prune(tally, probe);
  }

  async #reap(tally: WakeTally): Promise<void> {
    const reclaimed = await this.parts.reaper.runOnce();
    tally.add('reclaimed', reclaimed);
    if (reclaimed > 0) this.parts.onDue(reclaimed);
  }

  async #fire(tally: WakeTally, aheadMs: number): Promise<void> {
    const { timers, timeouts, polls, retries, nextInMs } = await this.parts.waits.runOnce(aheadMs);
    tally.add('timers', timers);
    tally.add('timeouts', timeouts);
    tally.add('polls', polls);
    tally.add('retries', retries);
    if (nextInMs !== null) this.parts.waitTimer.note(nextInMs);
  }

  async #schedule(tally: WakeTally, aheadMs: number): Promise<void> {
    const { started, nextInMs, errors } = await this.parts.schedules.runOnce(aheadMs);
    tally.add('schedules', started);
    for (const error of errors) tally.errors.push({ part: 'schedules', message: errorLine(error) });
    if (nextInMs !== null) this.parts.scheduleTimer.note(Math.max(0, nextInMs));
  }

  async #promote(tally: WakeTally, aheadMs: number): Promise<void> {
    const { retries, escalations, nextInMs } = await this.parts.delayed.runOnce(aheadMs);
    tally.add('retries', retries);
    tally.add('escalations', escalations);
    if (nextInMs !== null) this.parts.dueTimer.note(nextInMs);
  }

  async #unstick(tally: WakeTally): Promise<void> {
    const { requeued, failed } = await this.parts.stuck.runOnce();
    tally.add('requeued', requeued);
    tally.add('stuck', failed);
    if (requeued > 0) this.parts.onDue(requeued);
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

  async #prune(tally: WakeTally, probe: WakeProbe): Promise<void> {
    const { store, batch, eventRetentionMs } = this.parts;
    const inPages = async (prune: () => Promise<number>): Promise<void> => {
      for (let page = 0; page < PRUNE_PAGES; page++) {
        const pruned = await prune();
        tally.add('pruned', pruned);
        if (pruned < batch) return;
      }
    };
    if (probe.expiredKeys) await this.#part(tally, 'start keys', () => inPages(() => store.pruneKeys(batch)));
    if (probe.expiredEvents) {
      await this.#part(tally, 'old events', () => inPages(() => store.pruneEvents(eventRetentionMs, batch)));
    }
  }

  async #ahead(now: Date): Promise<number> {
    const clock = Date.parse(await this.parts.store.now());
    return Math.max(0, now.getTime() - clock);
  }

  /** Each part in an error boundary of its own: the next ones are done all the same. */
  async #part(tally: WakeTally, part: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#failed(tally, part, error);
    }
  }

  #failed(tally: WakeTally, part: string, error: unknown): void {
    const { store, outages, log } = this.parts;
    tally.errors.push({ part, message: errorLine(error) });
    if (store.isTransient(error)) outages.failed('wake pass', error);
    else log.error(`The part "${part}" of a wake pass failed: ${errorLine(error)}`, errorStack(error));
  }
}
