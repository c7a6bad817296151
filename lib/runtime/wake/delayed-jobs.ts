import type { WorkflowStore } from '../../engine/ports/index.js';

export interface DelayedJobsParts {
  readonly store: Pick<WorkflowStore, 'promoteDelayed'>;
  /** Jobs became due. */
  readonly onDue: (jobs: number) => void;
  /** Rows in one statement. */
  readonly batch: number;
}

/** Makes delayed jobs due whose time has come: retries, delayed starts, deferrals. */
export class DelayedJobs {
  constructor(private readonly parts: DelayedJobsParts) {}

  /** Rejects with what the store throws. */
  async runOnce(aheadMs: number): Promise<{ readonly retries: number; readonly nextInMs: number | null }> {
    const { store, batch, onDue } = this.parts;
    let all = 0;
    for (;;) {
      const { promoted, retries, nextInMs } = await store.promoteDelayed(batch, aheadMs);
      all += retries;
      if (promoted > 0) onDue(promoted);
      if (promoted < batch) return { retries: all, nextInMs };
    }
  }
}
