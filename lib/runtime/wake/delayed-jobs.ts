import type { PromotedJobs, WorkflowStore } from '../../engine/ports/index.js';

export interface DelayedJobsParts {
  readonly store: Pick<WorkflowStore, 'promoteDelayed'>;
  /** Jobs became due. */
  readonly onDue: (jobs: number) => void;
  /** Rows in one statement. */
  readonly batch: number;
}

/** Makes delayed jobs due whose time has come: retries, delayed starts, escalations, deferrals. */
export class DelayedJobs {
  constructor(private readonly parts: DelayedJobsParts) {}

  /** Rejects with what the store throws. */
  async runOnce(aheadMs: number): Promise<PromotedJobs> {
    const { store, batch, onDue } = this.parts;
    const all = { promoted: 0, retries: 0, escalations: 0 };
    for (;;) {
      const { promoted, retries, escalations, nextInMs } = await store.promoteDelayed(batch, aheadMs);
      all.promoted += promoted;
      all.retries += retries;
      all.escalations += escalations;
      if (promoted > 0) onDue(promoted);
      if (promoted < batch) return { ...all, nextInMs };
    }
  }
}
