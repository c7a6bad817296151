import type { StageRunStatus } from '../state/statuses.js';

/**
 * Says that a job is due. It carries ids only: the job itself stays in the database, which has the last word on whether it
 * is still wanted (JOB-2). Plain data, to be sent as JSON.
 *
 * @publicApi
 */
export interface JobMessage {
  /**
   * `<stage run>:<attempt>`, `<stage run>:<attempt>.<resumes>` once it was suspended, or `<stage run>:cancel:<attempt>`. Not unique for ever: an attempt that was lost or handed back
   * did not count, so that the next message about it has the same id.
   */
  readonly id: string;
  /** `cancel` calls the hook of a stage whose run was cancelled. */
  readonly kind: 'execute' | 'cancel';
  readonly stageRunId: string;
  readonly runId: string;
  readonly queue: string;
  /** Higher goes first, where the transport knows priorities. */
  readonly priority: number;
  /** The attempt that is to begin, from 1. */
  readonly attempt: number;
}

/**
 * Why a message led to nothing: seen before the job was visible (`race`), the run has ended (`orphan`), the attempt has
 * begun or is over (`duplicate`), this build does not serve the definition (`version`).
 *
 * @publicApi
 */
export type GhostReason = 'race' | 'orphan' | 'duplicate' | 'version';

/**
 * What came of a delivered message, all of it recorded. A ghost needs nothing more, but for a `race` whose `retryAfterMs`
 * is set.
 *
 * @publicApi
 */
export type JobAnswer =
  | { readonly ghost: false; readonly status: StageRunStatus }
  | { readonly ghost: true; readonly ghostReason: GhostReason; readonly retryAfterMs: number | null };

/**
 * Takes one message. It resolves when the attempt is over and its outcome written, failures of the stage included: the engine
 * owns retries, a transport never tries a message again because of an answer. Races are seen to by the engine as well.
 *
 * It rejects when the message could not be dealt with at all (the process shuts down, the message is malformed). A transport may
 * then deliver it again or drop it: the engine sends it anew after `requeueAfter`.
 *
 * @publicApi
 */
export type HandleJob = (message: JobMessage) => Promise<JobAnswer>;

/** @publicApi */
export interface JobConsumer {
  readonly handle: HandleJob;
  /** Most messages handled at once by this process (`worker.concurrency`). */
  readonly concurrency: number;
  /** Only messages of these queues (`worker.queues`); null = of all. */
  readonly queues: readonly string[] | null;
}

/**
 * Carries jobs to processes in place of the built-in worker (JOB-3). The table of jobs stays the truth: messages may be
 * doubled, late or lost, each is checked against it, and lost ones are sent anew. `describeTransport` of
 * `nestjs-workflow-engine/testing` is this contract as tests.
 *
 * @publicApi
 */
export interface JobTransport {
  /** For the log. */
  readonly name: string;

  /**
   * Begins to take messages, those included that were sent before by any process. Twice is once. Rejects when the broker
   * can't be reached, and may then be called again. Never called in a process with `worker: false`.
   */
  start(consumer: JobConsumer): Promise<void>;

  /**
   * Hands messages over; called after the commit that made their jobs due, before or after `start`. When it resolves, each will be
   * delivered at least once, to any process. When it rejects, some may be all the same; the engine calls it again.
   *
   * A message whose id is still undelivered, or is being handled, may be dropped as the same; one whose id was handled must be
   * delivered again. So brokers that remember ids have to forget those they have delivered.
   */
  send(messages: readonly JobMessage[]): Promise<void>;

  /**
   * The run has ended, and that is committed: its undelivered `execute` messages may be dropped. `cancel` ones, and those
   * sent later, must be delivered. A saving only: what is delivered all the same is answered as a ghost. Several
   * processes may call it for one run.
   */
  cancelByRun(runId: string): Promise<void>;

  /**
   * Takes no message from the moment it is called, waits up to `graceMs` for handlers that are under way and for sends, then lets go
   * of the broker. What was not delivered is left to other processes. Without `start`, and twice, it resolves too; nothing
   * is called after it.
   */
  stop(graceMs: number): Promise<void>;
}
