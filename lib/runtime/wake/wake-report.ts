/** What one wake pass did (WAKE-2). Counts of rows. */
export interface WakeReport {
  readonly timers: number;
  /** Delayed retries that came due. */
  readonly retries: number;
  readonly timeouts: number;
  readonly polls: number;
  /** Escalations whose time has come. */
  readonly escalations: number;
  /** Runs that schedules started. */
  readonly schedules: number;
  /** Attempts whose leases were over. */
  readonly reclaimed: number;
  /** Jobs that were lost and pushed again. */
  readonly requeued: number;
  /** Events delivered from the outbox. */
  readonly flushed: number;
  /** Runs that failed STUCK_RUN_REAPED. */
  readonly stuck: number;
  /** Rows removed because their time was over. */
  readonly pruned: number;
  /** Parts that failed; the others did their work. */
  readonly errors: readonly WakeError[];
}

export interface WakeError {
  readonly part: string;
  readonly message: string;
}

export type WakeCount = Exclude<keyof WakeReport, 'errors'>;

/** Counts up while a pass runs. */
export class WakeTally {
  readonly errors: WakeError[] = [];
  readonly counts: Record<WakeCount, number> = {
    timers: 0,
    retries: 0,
    timeouts: 0,
    polls: 0,
    escalations: 0,
    schedules: 0,
    reclaimed: 0,
    requeued: 0,
    flushed: 0,
    stuck: 0,
    pruned: 0,
  };

  add(count: WakeCount, by: number): void {
    this.counts[count] += by;
  }

  report(): WakeReport {
    return { ...this.counts, errors: this.errors };
  }
}
