import type { FiredWaits, WorkflowStore } from '../../engine/ports/index.js';
import type { EventMatcher } from '../events/event-matcher.js';

export interface DueWaitsParts {
  readonly store: Pick<WorkflowStore, 'fireDue'>;
  readonly matcher: Pick<EventMatcher, 'timeOut'>;
  /** Stage runs go on: jobs became due. */
  readonly onResumed: (stageRuns: number) => void;
  readonly batch: number;
}

/** What is due and locked by somebody is looked at again after this. */
const LOCKED_MS = 100;

export type DueWaitsReport = Pick<FiredWaits, 'timers' | 'timeouts' | 'polls' | 'retries' | 'nextInMs'>;

/** Ends waits whose time has come: sleeps, timeouts, polls, tries of steps (WAIT-1, WAKE-1). */
export class DueWaits {
  constructor(private readonly parts: DueWaitsParts) {}

  /** `aheadMs`: as if it were so much later. Rejects with what the store throws. */
  async runOnce(aheadMs: number): Promise<DueWaitsReport> {
    const { store, matcher, batch, onResumed } = this.parts;
    const sum = { timers: 0, timeouts: 0, polls: 0, retries: 0 };
    for (;;) {
      const fired = await store.fireDue(batch, aheadMs);
      sum.timers += fired.timers;
      sum.timeouts += fired.timeouts;
      sum.polls += fired.polls;
      sum.retries += fired.retries;
      if (fired.resumed > 0) onResumed(fired.resumed);
      // What is locked by somebody is left for the next time: the same page again would not move it.
      if (fired.more && fired.ended > 0) continue;
      const { timeouts, busy } = await matcher.timeOut(aheadMs);
      sum.timeouts += timeouts;
      return {
        ...sum,
        nextInMs: fired.more || busy ? Math.min(fired.nextInMs ?? Infinity, LOCKED_MS) : fired.nextInMs,
      };
    }
  }
}
