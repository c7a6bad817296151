import type { JobAnswer } from '../engine/ports/index.js';
import { parseDurationMs, type Duration } from '../engine/time/index.js';
import { InvalidOptionsError, type OptionProblem, UndefinedIdError } from '../errors/index.js';
import type { DeliveredJob, ProcessReport } from '../runtime/worker/job-pump.js';
import { isUuid } from './runs/run-id.js';

export interface ProcessOptions {
  /** Most jobs that are begun. From 1 to 10,000. @default 100 */
  readonly max?: number;
  /** No job is begun after this long; those begun are waited for. @default until nothing is due */
  readonly timeBudget?: Duration;
}

/** What the host drives; made by the composition root. */
export interface DrivenEngine {
  processAvailable(options: { readonly max: number; readonly timeBudgetMs?: number }): Promise<ProcessReport>;
  handleJob(job: DeliveredJob): Promise<JobAnswer>;
  drain(graceMs?: number): Promise<void>;
}

const MOST = 10_000;
/** The largest integer of the database's columns. */
const MOST_INT = 2_147_483_647;

const isCountFrom1 = (value: number | undefined): boolean =>
  value === undefined || (Number.isInteger(value) && value >= 1 && value <= MOST_INT);

/**
 * Runs work by hand, for processes without a worker of their own: serverless functions, scripts, external transports.
 * The same code as the worker's, the same guarantees.
 *
 * @publicApi
 */
export class WorkflowHost {
  readonly #ready: () => Promise<DrivenEngine>;

  constructor(ready: () => Promise<DrivenEngine>) {
    this.#ready = ready;
  }

  /**
   * Runs jobs that are due, and those that follow from them, until none is due or a limit is met. Resolves when all of them
   * are recorded.
   *
   * @throws InvalidOptionsError, ShuttingDownError after `drain`, what the database throws
   */
  async processAvailable({ max = 100, timeBudget }: ProcessOptions = {}): Promise<ProcessReport> {
    const problems: OptionProblem[] = [];
    if (!Number.isInteger(max) || max < 1 || max > MOST)
      problems.push({ path: 'max', message: `must be an integer from 1 to ${MOST}` });
    if (problems.length > 0) throw new InvalidOptionsError({ where: 'processAvailable', problems });
    const timeBudgetMs =
      timeBudget === undefined ? undefined : parseDurationMs(timeBudget, 'timeBudget of processAvailable');
    return (await this.#ready()).processAvailable({ max, timeBudgetMs });
  }

  /**
   * Runs the job that a message names, for hosts that carry messages by themselves. A ghost was not run: the answer says why,
   * and whether the message should be delivered again. Name the attempt where messages may come twice.
   *
   * @throws UndefinedIdError, InvalidOptionsError for values that can't be those of a job, ShuttingDownError after `drain`
   */
  async handleJob(job: DeliveredJob): Promise<JobAnswer> {
    const stageRunId: unknown = job?.stageRunId;
    if (stageRunId === undefined || stageRunId === null)
      throw new UndefinedIdError({ what: 'stageRunId', where: 'handleJob' });
    const problems: OptionProblem[] = [];
    if (typeof stageRunId !== 'string' || !isUuid(stageRunId))
      problems.push({ path: 'stageRunId', message: 'must be the id of a stage run' });
    for (const path of ['attempt', 'delivery'] as const) {
      if (!isCountFrom1(job[path])) problems.push({ path, message: `must be an integer from 1 to ${MOST_INT}` });
    }
    if (job.kind !== undefined && job.kind !== 'execute' && job.kind !== 'cancel')
      problems.push({ path: 'kind', message: `must be 'execute' or 'cancel'` });
    if (problems.length > 0) throw new InvalidOptionsError({ where: 'handleJob', problems });
    return (await this.#ready()).handleJob(job);
  }

  /**
   * Stops claiming and waits for what runs, as at shutdown: `shutdownGrace`, or the time given, then the rest is handed
   * back. Nothing is run by this process afterwards.
   */
  async drain(grace?: Duration): Promise<void> {
    const graceMs = grace === undefined ? undefined : parseDurationMs(grace, 'grace of drain');
    return (await this.#ready()).drain(graceMs);
  }
}
