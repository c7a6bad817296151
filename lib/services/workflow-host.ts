import { parseDurationMs, type Duration } from '../engine/time/index.js';
import { InvalidOptionsError, type OptionProblem, UndefinedIdError } from '../errors/index.js';
import type { JobAnswer, JobMessage, ProcessReport } from '../runtime/worker/job-pump.js';
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
  handleJob(message: JobMessage): Promise<JobAnswer>;
  drain(graceMs?: number): Promise<void>;
}

const MOST = 10_000;

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
   * Runs the job that a message of an external transport names. A ghost was not run: the answer says why, and whether the
   * message should be delivered again.
   *
   * @throws UndefinedIdError, InvalidOptionsError for an id that can't be one, ShuttingDownError after `drain`
   */
  async handleJob(message: JobMessage): Promise<JobAnswer> {
    const stageRunId: unknown = message?.stageRunId;
    if (stageRunId === undefined || stageRunId === null)
      throw new UndefinedIdError({ what: 'stageRunId', where: 'handleJob' });
    if (typeof stageRunId !== 'string' || !isUuid(stageRunId)) {
      throw new InvalidOptionsError({
        where: 'handleJob',
        problems: [{ path: 'stageRunId', message: 'must be the id of a stage run' }],
      });
    }
    return (await this.#ready()).handleJob(message);
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
