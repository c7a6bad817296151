import { describeFailure } from '../../engine/codec/index.js';
import type { DecideSettled, ExpiredLease, LeaseLimits, LostRecord, WorkflowStore } from '../../engine/ports/index.js';
import { computeBackoffDelayMs } from '../../engine/retry/index.js';
import type { CompiledRetryPolicy } from '../../engine/retry/index.js';
import { isEscalation } from '../../engine/state/escalation-key.js';
import type { EngineEvent, LostOutcome } from '../../engine/state/rows.js';
import { formatDuration } from '../../engine/time/index.js';
import { LeaseAbsoluteCapError, LeaseExpiredError } from '../../errors/index.js';
import { errorLine, errorStack, type RuntimeLog } from '../background/runtime-log.js';

export interface LeaseReaperParts {
  readonly store: Pick<WorkflowStore, 'findExpired' | 'reap' | 'isTransient'>;
  readonly decide: DecideSettled;
  readonly log: RuntimeLog;
  readonly limits: LeaseLimits;
  readonly maxLosses: number;
  /** The module's default policy: its backoff delays a stage run that was lost before. */
  readonly policy: CompiledRetryPolicy;
  /** Most leases read in one statement. */
  readonly batch: number;
  readonly random: () => number;
  /** Milliseconds; only for the `nextAt` that events tell. */
  readonly now: () => number;
}

/** How often a cancel hook is begun by workers that die of it. */
const HOOK_TRIES = 5;

/**
 * Ends attempts whose leases are over: requeued at once the first time, after the backoff further on, failed for good when
 * the losses of a stage run reach `maxLosses` or one attempt ran past the absolute cap (LEASE-3, LEASE-4).
 *
 * What it found is a guess until the store has checked again under the run's lock; any number of processes may reap at once.
 * A row that can't be ended does not keep others from it.
 */
export class LeaseReaper {
  constructor(private readonly parts: LeaseReaperParts) {}

  /** Reaps what is over now, a page at a time. Returns how many attempts were ended. Rejects only when the database is away. */
  async runOnce(): Promise<number> {
    const { store, limits, batch } = this.parts;
    let reaped = 0;
    for (;;) {
      const expired = await store.findExpired(limits, batch);
      const ended = expired.length === 0 ? 0 : await this.#reap(expired.map((lease) => this.#recordOf(lease)));
      reaped += ended;
      // A page of which nothing could be ended would be the same page again.
      if (expired.length < batch || ended === 0) return reaped;
    }
  }

  async #reap(records: readonly LostRecord[]): Promise<number> {
    const { store, limits, decide, log } = this.parts;
    try {
      return await store.reap(records, limits, decide);
    } catch (error) {
      if (store.isTransient(error)) throw error;
      if (records.length === 1) {
        const { expired } = records[0]!;
        log.error(
          `The lease on stage run ${expired.stageRunId} could not be ended: ${errorLine(error)}`,
          errorStack(error),
        );
        return 0;
      }
    }
    let ended = 0;
    for (const record of records) ended += await this.#reap([record]);
    return ended;
  }

  #recordOf(expired: ExpiredLease): LostRecord {
    const outcome = expired.kind === 'cancel' ? this.#hookOutcome(expired) : this.#outcome(expired);
    const isQuiet = expired.kind === 'cancel' || isEscalation(expired);
    return { expired, outcome, events: isQuiet ? [] : [this.#event(expired, outcome)] };
  }

  #outcome(expired: ExpiredLease): LostOutcome {
    const { limits, maxLosses } = this.parts;
    const { key: stage, workerId: worker } = expired;
    if (expired.reason === 'cap') {
      const cap = formatDuration(limits.capMs);
      return { kind: 'failed', failure: failureOf(new LeaseAbsoluteCapError({ stage, worker, cap })) };
    }
    const losses = expired.losses + 1;
    const failure = failureOf(new LeaseExpiredError({ stage, worker, losses, maxLosses }));
    return losses < maxLosses ? { kind: 'lost', failure, delayMs: this.#delayMs(losses) } : { kind: 'failed', failure };
  }

  /** A hook has no losses to count and no run to fail: `failed` removes its job. */
  #hookOutcome({ key: stage, workerId: worker, attempt }: ExpiredLease): LostOutcome {
    const failure = failureOf(new LeaseExpiredError({ stage, worker }));
    return attempt < HOOK_TRIES
      ? { kind: 'lost', failure, delayMs: this.#delayMs(attempt) }
      : { kind: 'failed', failure };
  }

  #delayMs(losses: number): number {
    return losses === 1 ? 0 : computeBackoffDelayMs(this.parts.policy, losses - 1, this.parts.random);
  }

  #event({ stageRunId, key, stage, attempt }: ExpiredLease, outcome: LostOutcome): EngineEvent {
    const { code, message } = outcome.failure;
    if (outcome.kind === 'failed') {
      return { type: 'stage:failed', stageRunId, node: key, stage, data: { attempt, code, message, willRetry: false } };
    }
    const nextAt = new Date(this.parts.now() + outcome.delayMs).toISOString();
    return {
      type: 'stage:retrying',
      stageRunId,
      node: key,
      stage,
      data: { attempt, code, message, nextAt, willRetry: true },
    };
  }
}

/** Without a stack: where the reaper stood says nothing about the stage. */
function failureOf(error: Error): ReturnType<typeof describeFailure> {
  return { ...describeFailure(error), stack: undefined };
}
