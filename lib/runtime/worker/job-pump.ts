import type {
  ClaimedJob,
  GhostReason,
  JobAnswer,
  JobMessage,
  NextId,
  WorkflowStore,
} from '../../engine/ports/index.js';
import type { StageOutcome } from '../../engine/state/rows.js';
import type { StageRunStatus } from '../../engine/state/statuses.js';
import { ShuttingDownError } from '../../errors/index.js';
import { HandOffs } from './hand-offs.js';
import type { StageEnd } from './job-end.js';
import type { JobRunner } from './job-runner.js';
import type { UnservedDefinitions } from './unserved-definitions.js';
import type { WorkerSettings } from './worker.js';

export interface ProcessOptions {
  /** Most stages to run. @default no limit */
  readonly max?: number;
  /** Begin nothing more after so many milliseconds. @default no limit */
  readonly timeBudgetMs?: number;
}

export interface ProcessReport {
  /** Stages that were run. */
  readonly processed: number;
  /** It ended by its limits: more may be due. */
  readonly more: boolean;
}

/** A stage run that somebody else's message names. A `JobMessage` is one. */
export interface DeliveredJob {
  readonly stageRunId: string;
  /** Only this attempt; anything else is a duplicate. @default whichever is next, before its backoff is over too */
  readonly attempt?: number;
  /** `cancel` calls the cancel hook. @default 'execute' */
  readonly kind?: JobMessage['kind'];
  /** The how-manieth delivery of this message, from 1. @default 1 */
  readonly delivery?: number;
}

export interface JobPumpParts {
  readonly store: Pick<WorkflowStore, 'claim' | 'claimStageRun' | 'promoteDelayed'>;
  readonly runner: JobRunner;
  readonly unserved: UnservedDefinitions;
  readonly nextId: NextId;
}

/** Rows promoted in one statement. */
const PROMOTE_BATCH = 100;
/** 1 + 2 + 4 … s: after this many deliveries a race has lasted 5 minutes, and is none (GHOST-2). */
const RACE_DELIVERIES = 8;

const STATUS_AFTER: Readonly<Record<StageOutcome['kind'] | 'suspended', StageRunStatus>> = {
  completed: 'COMPLETED',
  skipped: 'SKIPPED',
  failed: 'FAILED',
  retry: 'PENDING',
  released: 'PENDING',
  suspended: 'SUSPENDED',
};

/**
 * Runs jobs for a host that calls, instead of in a loop of its own: serverless functions, external transports, tests
 * (HOST-1). The same slots' code, leases and heartbeats as the worker's.
 */
export class JobPump {
  constructor(
    private readonly settings: WorkerSettings,
    private readonly parts: JobPumpParts,
  ) {}

  /**
   * Runs whatever is due, and what follows from it, until nothing is or a limit is reached; resolves when all of it is
   * recorded. Nothing is begun once the process drains. Rejects with what the store throws: the caller decides when to try
   * again.
   */
  async processAvailable({ max = Infinity, timeBudgetMs = Infinity }: ProcessOptions = {}): Promise<ProcessReport> {
    const until = performance.now() + timeBudgetMs;
    const budget = { left: max };
    const { runner } = this.parts;
    const mayBegin = (): boolean => budget.left > 0 && performance.now() < until && !runner.draining;
    let processed = 0;
    while (mayBegin()) {
      const limit = Math.min(budget.left, this.settings.concurrency);
      const taken = await this.#take(limit);
      if (taken === undefined) return { processed, more: false };
      budget.left -= taken.length;
      const ends = await Promise.all(taken.map((job) => this.#run(job, budget, mayBegin)));
      processed += ends.reduce((sum, stages) => sum + stages, 0);
    }
    return { processed, more: true };
  }

  /** Runs one stage run that a transport delivered, if it is due and nobody has it. @throws ShuttingDownError, and what the store throws */
  async handleJob({ stageRunId, kind = 'execute', attempt, delivery = 1 }: DeliveredJob): Promise<JobAnswer> {
    if (this.parts.runner.draining) throw new ShuttingDownError({ what: `Running stage run ${stageRunId}` });
    const wanted = { kind, attempt: attempt ?? null };
    const job = await this.parts.store.claimStageRun(stageRunId, this.settings.workerId, wanted);
    if (job === 'race')
      return ghost('race', delivery <= RACE_DELIVERIES ? 1_000 * 2 ** (Math.max(1, delivery) - 1) : null);
    if (typeof job === 'string') return ghost(job, null);
    const { end } = await this.parts.runner.run(job, null);
    return answerOf(end);
  }

  /** Due jobs; undefined when there are none. An empty page may only have been full of jobs that were discarded. */
  async #take(limit: number): Promise<readonly ClaimedJob[] | undefined> {
    const { store, unserved } = this.parts;
    const { workerId, queues } = this.settings;
    await store.promoteDelayed(PROMOTE_BATCH, 0);
    const { claimed, discarded } = await store.claim({ workerId, limit, queues, unserved: unserved.keys() });
    return claimed.length + discarded.length === 0 ? undefined : claimed;
  }

  async #run(job: ClaimedJob, budget: { left: number }, mayBegin: () => boolean): Promise<number> {
    const { workerId, queues } = this.settings;
    const handOffs = new HandOffs({
      workerId,
      queues,
      nextId: this.parts.nextId,
      mayOffer: mayBegin,
      onOffer: () => budget.left--,
    });
    const { stages } = await this.parts.runner.run(job, handOffs);
    // Offers that the store did not take, and a job that was only put off, used up nothing.
    budget.left += 1 + handOffs.offers - stages;
    return stages;
  }
}

function answerOf(end: StageEnd): JobAnswer {
  switch (end.kind) {
    case 'recorded':
      return { ghost: false, status: STATUS_AFTER[end.outcome] };
    case 'hook':
      return { ghost: false, status: 'CANCELLED' };
    case 'cancelled':
      return ghost('orphan', null);
    case 'unserved':
      return ghost('version', null);
    case 'lost':
    case 'given-up':
      return ghost('duplicate', null);
  }
}

function ghost(ghostReason: GhostReason, retryAfterMs: number | null): JobAnswer {
  return { ghost: true, ghostReason, retryAfterMs };
}
