import type { ClaimedJob, NextId, WorkflowStore } from '../../engine/ports/index.js';
import type { DecideContext } from '../../engine/state/deciding.js';
import { queueOf } from '../../engine/state/enter-node.js';
import type { StageOutcome } from '../../engine/state/rows.js';
import { detached } from '../background/detached.js';
import type { Outages } from '../background/outages.js';
import type { Pauses } from '../background/pauses.js';
import { GivenUp, persist } from '../background/persistence.js';
import { errorLine, errorStack, type RuntimeLog } from '../background/runtime-log.js';
import { Attempt } from '../execution/attempt.js';
import type { AttemptEnd, RecordedWithin } from '../execution/attempt-end.js';
import type { CancelHook } from '../execution/cancel-hook.js';
import type { ServedStage, ServedStages } from '../execution/served-stages.js';
import type { StageExecution } from '../execution/stage-execution.js';
import type { CancelledRuns } from '../lease/cancelled-runs.js';
import type { Heartbeat } from '../lease/heartbeat.js';
import type { LiveAttempts } from '../lease/live-attempts.js';
import type { HandOffs } from './hand-offs.js';
import type { JobEnd, StageEnd } from './job-end.js';
import { nextJob } from './next-job.js';
import { onlySuccessor, released, type HandOffOffer, type OutcomeRecords } from './outcome-records.js';
import type { RecordEntry } from './record-item.js';
import type { Recorder } from './recorder.js';
import type { UnservedDefinitions } from './unserved-definitions.js';

export interface JobRunnerParts {
  readonly store: Pick<WorkflowStore, 'addCancelJob' | 'extendLeases' | 'isTransient'>;
  readonly stages: ServedStages;
  readonly execution: StageExecution;
  readonly hook: CancelHook;
  readonly records: OutcomeRecords;
  readonly recorder: Recorder;
  readonly live: LiveAttempts;
  readonly heartbeat: Heartbeat;
  readonly cancelled: CancelledRuns;
  readonly unserved: UnservedDefinitions;
  readonly context: DecideContext;
  readonly nextId: NextId;
  readonly outages: Outages;
  readonly pauses: Pauses;
  readonly log: RuntimeLog;
}

const RELEASED_AT_SHUTDOWN: StageOutcome = { kind: 'released', reason: 'shutdown', delayMs: 0 };

/**
 * Runs a claimed job in one slot to its recorded end, and the stages that are handed off to the slot after it. The same
 * code for the worker's loop, for `processAvailable` and for jobs that an external transport delivers.
 */
export class JobRunner {
  #running = 0;
  #whenIdle: (() => void)[] = [];

  constructor(private readonly parts: JobRunnerParts) {}

  /** Jobs that are not through yet. */
  get running(): number {
    return this.#running;
  }

  /** Resolves when no job is under way; at once when none is. */
  whenIdle(): Promise<void> {
    if (this.#running === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  get draining(): boolean {
    return this.parts.execution.draining;
  }

  /** From now on nothing is begun: what is claimed is handed back, what throws too (LEASE-6). */
  drain(): void {
    this.parts.execution.draining = true;
  }

  /** Never rejects. In nobody's asynchronous context, whoever called. `handOffs` null: the next stage is left to the queue. */
  run(job: ClaimedJob, handOffs: HandOffs | null): Promise<JobEnd> {
    return detached(() => this.#run(job, handOffs));
  }

  async #run(job: ClaimedJob, handOffs: HandOffs | null): Promise<JobEnd> {
    this.#running++;
    try {
      const served = await this.#serve(job);
      if (!served) return { end: await this.#defer(job), stages: 0 };
      return await this.#chain(new Attempt(job, served), handOffs);
    } catch (error) {
      const { id, key } = job.stageRun;
      this.parts.log.error(
        `Running stage ${key} (${id}) of run ${job.run.id} failed: ${errorLine(error)}`,
        errorStack(error),
      );
      return { end: { kind: 'given-up' }, stages: 1 };
    } finally {
      this.#running--;
      if (this.#running === 0) for (const resolve of this.#whenIdle.splice(0)) resolve();
    }
  }

  async #serve(job: ClaimedJob): Promise<ServedStage | undefined> {
    const { stages, log } = this.parts;
    const { definitionKey, ownerId } = job.run;
    const { key } = job.stageRun;
    const known = stages.find(definitionKey, key);
    if (known) return known;
    try {
      // An outage must not leave the job to the end of its lease.
      return await persist('reading a definition', () => stages.findAnew(definitionKey, key, ownerId), this.parts);
    } catch (error) {
      if (error instanceof GivenUp) throw error;
      // Nor may anything else: each such end counts as a loss, and the last one would fail the run.
      log.error(`${definitionKey} could not be read, its jobs are put off: ${errorLine(error)}`, errorStack(error));
      return undefined;
    }
  }

  async #chain(first: Attempt, handOffs: HandOffs | null): Promise<JobEnd> {
    const { live } = this.parts;
    let attempt = first;
    live.add(attempt);
    try {
      for (let stages = 1; ; stages++) {
        const end = await this.#attempt(attempt, handOffs);
        if (!(end instanceof Attempt)) return { end, stages };
        // The next before the last: the heart does not stop between two stages.
        live.add(end);
        live.delete(attempt);
        attempt = end;
      }
    } finally {
      live.delete(attempt);
    }
  }

  /** One attempt to its recorded end. Returns the attempt that was handed off, if one was. */
  async #attempt(attempt: Attempt, handOffs: HandOffs | null): Promise<StageEnd | Attempt> {
    const { execution } = this.parts;
    if (attempt.job.kind === 'cancel') return this.#callHook(attempt);
    const over = await this.#checkBefore(attempt);
    if (over) return over;
    const outcome = execution.draining ? RELEASED_AT_SHUTDOWN : await execution.run(attempt);
    attempt.over = true;
    if (outcome.kind === 'discarded') return this.#discarded(attempt, outcome.because);
    const offer = handOffs && !execution.draining && handOffs.mayOffer() ? handOffs.offer : null;
    if (outcome.kind === 'crashed') return { kind: 'given-up' };
    if (outcome.kind === 'unfenced') return this.#discarded(attempt, await this.#whyUnfenced(attempt));
    const { entry, result } = outcome.kind === 'recorded' ? outcome : await this.#record(attempt, outcome, offer);
    if (result.kind === 'recorded') {
      if (entry.lane === 'suspend') return { kind: 'recorded', outcome: 'suspended' };
      if (result.handedOff) return this.#handedOff(attempt, entry);
      return { kind: 'recorded', outcome: entry.record.outcome.kind };
    }
    if (result.kind === 'given-up') return { kind: 'given-up' };
    return this.#discarded(attempt, result.kind === 'cancelled' ? 'cancelled' : 'lease-lost');
  }

  async #record(
    attempt: Attempt,
    outcome: StageOutcome | Extract<AttemptEnd, { kind: 'suspended' }>,
    offer: (() => HandOffOffer) | null,
  ): Promise<RecordedWithin> {
    const { records, recorder } = this.parts;
    const entry =
      outcome.kind === 'suspended'
        ? records.suspended(attempt, outcome.suspension)
        : records.entryOf(attempt, outcome, offer);
    return { entry, result: await recorder.record(attempt, entry) };
  }

  /** A notice of the run's end may have come before the claim's answer. It is only a hint: what it says is read. */
  async #checkBefore(attempt: Attempt): Promise<StageEnd | undefined> {
    const { cancelled, heartbeat, log } = this.parts;
    if (!cancelled.has(attempt.lease.runId)) return undefined;
    try {
      await heartbeat.check([attempt]);
    } catch (error) {
      log.debug(`Whether run ${attempt.lease.runId} was cancelled could not be read: ${errorLine(error)}`);
    }
    if (attempt.cancelled) return { kind: 'cancelled' };
    return attempt.leaseLost ? { kind: 'lost' } : undefined;
  }

  async #callHook(attempt: Attempt): Promise<StageEnd> {
    const { hook, execution } = this.parts;
    if (execution.draining) await hook.defer(attempt.lease, 0);
    else await hook.run(attempt);
    return { kind: 'hook' };
  }

  #handedOff({ job, served }: Attempt, { record }: Exclude<RecordEntry, { lane: 'suspend' }>): Attempt | StageEnd {
    const transition = 'transition' in record ? record.transition : null;
    const token = 'handOff' in record ? record.handOff?.token : undefined;
    const next = transition ? onlySuccessor(transition) : undefined;
    const following = next && this.parts.stages.find(job.run.definitionKey, next.key);
    if (!transition || !token || !next || !following) {
      throw new Error(`Stage ${served.stage.key} of run ${job.run.id} was handed off to nothing.`);
    }
    return new Attempt(nextJob(job, record.outcome, transition, next, token), following);
  }

  /** A step was not begun, since the attempt is over in the store: by the run's end, or since another worker has it. */
  async #whyUnfenced({ lease }: Attempt): Promise<'cancelled' | 'lease-lost'> {
    try {
      const states = await this.parts.store.extendLeases([lease]);
      return states.get(lease.jobId) === 'cancelled' ? 'cancelled' : 'lease-lost';
    } catch (error) {
      this.parts.log.debug(`Why stage run ${lease.stageRunId} is over could not be read: ${errorLine(error)}`);
      return 'lease-lost';
    }
  }

  /** Drops a result. What a body did after its run was cancelled is undone by the stage's own hook (CANCEL-3). */
  async #discarded(attempt: Attempt, because: 'cancelled' | 'lease-lost'): Promise<StageEnd> {
    const { job, lease, served } = attempt;
    if (because === 'lease-lost') {
      // Told already by the heartbeat, where that saw it first.
      if (!attempt.leaseLost)
        this.parts.log.warn(
          `The result of stage ${job.stageRun.key} (${job.stageRun.id}) of run ${job.run.id} was dropped: its lease was lost.`,
        );
      return { kind: 'lost' };
    }
    if (served.stage.hasCancelHook) {
      const jobId = this.parts.nextId();
      const queue = queueOf(served.stage, job.run, served.compiled, this.parts.context);
      await persist('writing a cancel job', () => this.parts.store.addCancelJob(lease, jobId, queue), this.parts);
    }
    return { kind: 'cancelled' };
  }

  /** Gives a job back that this build can't run, its attempt not used up (GHOST-3). */
  async #defer(job: ClaimedJob): Promise<StageEnd> {
    const { unserved, hook, recorder } = this.parts;
    const { id: stageRunId, attempt, deferrals } = job.stageRun;
    const lease = { jobId: job.jobId, runId: job.run.id, stageRunId, token: job.token };
    unserved.learn(job.run.definitionKey, job.run.ownerId);
    const delayMs = unserved.delayMs(deferrals);
    if (job.kind === 'cancel') await hook.defer(lease, delayMs);
    else await recorder.record(null, released(lease, attempt, 'version', delayMs));
    return { kind: 'unserved' };
  }
}
