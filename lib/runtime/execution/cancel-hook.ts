import type { Lease, WorkflowStore } from '../../engine/ports/index.js';
import { persist } from '../background/persistence.js';
import type { Outages } from '../background/outages.js';
import type { Pauses } from '../background/pauses.js';
import { errorLine, type RuntimeLog } from '../background/runtime-log.js';
import type { Attempt } from './attempt.js';
import type { StageExecution } from './stage-execution.js';

/** How often a hook that throws is tried, and the pause after the first failure. */
const HOOK_TRIES = 5;
const FIRST_RETRY_MS = 1_000;

export interface CancelHookParts {
  readonly store: Pick<WorkflowStore, 'finishCancelJob' | 'isTransient'>;
  readonly execution: Pick<StageExecution, 'undo' | 'draining'>;
  readonly outages: Outages;
  readonly pauses: Pauses;
  readonly log: RuntimeLog;
}

/**
 * Does `cancel` jobs: calls the `cancel(ctx)` of a stage whose run was cancelled while it was live (CANCEL-3). The job
 * is durable, so a crash loses no hook; a hook may run more than once. After five failures it is given up, with a line in
 * the log: the run is CANCELLED either way.
 */
export class CancelHook {
  constructor(private readonly parts: CancelHookParts) {}

  /** Calls the hook and ends its job, or puts it off. Never rejects. */
  async run(attempt: Attempt): Promise<void> {
    const { execution, log } = this.parts;
    const { run, stageRun } = attempt.job;
    const thrown = await execution.undo(attempt);
    // Another worker holds the job, so it ends it.
    if (attempt.leaseLost) return;
    if (!thrown) return this.#finish(attempt.lease, null);
    if (execution.draining) return this.#finish(attempt.lease, 0);
    const where = `The cancel hook of stage ${stageRun.key} of run ${run.id}`;
    if (stageRun.attempt < HOOK_TRIES) {
      log.warn(`${where} failed (try ${stageRun.attempt} of ${HOOK_TRIES}): ${thrown.failure.message}`);
      return this.#finish(attempt.lease, FIRST_RETRY_MS * 4 ** (stageRun.attempt - 1));
    }
    log.error(
      `${where} failed ${stageRun.attempt} times and was given up: ${thrown.failure.message}`,
      thrown.failure.stack,
    );
    return this.#finish(attempt.lease, null);
  }

  /** Puts the job off, for a process that serves its definition. */
  defer(lease: Lease, delayMs: number): Promise<void> {
    return this.#finish(lease, delayMs);
  }

  async #finish(lease: Lease, retryInMs: number | null): Promise<void> {
    try {
      await persist('cancel hook', () => this.parts.store.finishCancelJob(lease, retryInMs), this.parts);
    } catch (error) {
      // Its lease ends by itself, and the hook runs again.
      this.parts.log.error(`The cancel job of stage run ${lease.stageRunId} could not be ended: ${errorLine(error)}`);
    }
  }
}
