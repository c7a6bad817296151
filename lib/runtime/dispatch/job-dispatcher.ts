import type { JobMessage, JobTransport, WorkflowStore } from '../../engine/ports/index.js';
import { BackgroundLoop } from '../background/background-loop.js';
import type { Outages } from '../background/outages.js';
import { Pauses } from '../background/pauses.js';
import { errorLine, type RuntimeLog } from '../background/runtime-log.js';
import { within } from '../background/within.js';
import { jobMessage } from './job-message.js';

export interface JobDispatcherParts {
  readonly store: Pick<WorkflowStore, 'takeUnsent' | 'isTransient'>;
  readonly transport: Pick<JobTransport, 'name' | 'send'>;
  /** Milliseconds between looks that nothing asked for. */
  readonly pollMs: number;
  /** `requeueAfter`: how long one batch is tried, until the wake pass pushes its jobs again in any case. */
  readonly requeueAfterMs: number;
  readonly outages: Outages;
  readonly log: RuntimeLog;
  readonly random: () => number;
  readonly now?: () => number;
}

/** Jobs in one statement and one call of the transport. */
const BATCH = 100;
/** Part of the poll interval that is random. */
const POLL_JITTER = 0.1;
/** Pause after the first refusal of a batch, and the longest one. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

/**
 * Gives due jobs to the transport, for as long as it runs: when something may be due, and by the poll interval.
 *
 * A job is marked as sent before it is, so no two processes send it. A batch that the transport refuses is tried again; one
 * that gets lost between mark and broker, by a crash too, is pushed again by the wake pass (JOB-5).
 */
export class JobDispatcher {
  readonly #loop: BackgroundLoop;
  readonly #pauses = new Pauses();
  readonly #now: () => number;

  constructor(private readonly parts: JobDispatcherParts) {
    const { store, pollMs, outages, log, random } = parts;
    this.#now = parts.now ?? (() => performance.now());
    this.#loop = new BackgroundLoop({
      name: 'sending jobs',
      work: () => this.#sendDue(),
      everyMs: pollMs,
      jitter: POLL_JITTER,
      isTransient: (error) => store.isTransient(error),
      outages,
      log,
      random,
    });
  }

  get running(): boolean {
    return this.#loop.running;
  }

  start(): void {
    this.#loop.start();
    this.#loop.kick();
  }

  /** Something may be due. Cheap, and never throws. */
  kick(): void {
    this.#loop.kick();
  }

  /** Sends all that is due now. Never rejects. */
  runOnce(): Promise<void> {
    return this.#loop.runOnce();
  }

  /** Takes nothing more, and waits for the batch under way. For good. */
  async stop(): Promise<void> {
    this.#pauses.end();
    await this.#loop.stop();
  }

  async #sendDue(): Promise<void> {
    while (!this.#pauses.over) {
      const jobs = await this.parts.store.takeUnsent(BATCH);
      if (jobs.length > 0) await this.#send(jobs.map(jobMessage));
      if (jobs.length < BATCH) return;
    }
  }

  async #send(messages: readonly JobMessage[]): Promise<void> {
    const { transport, log, random, requeueAfterMs } = this.parts;
    const until = this.#now() + requeueAfterMs;
    for (let refusals = 0; ; refusals++) {
      const refused = await this.#refusal(messages, until - this.#now());
      if (refused === undefined) {
        if (refusals > 0) log.log(`The transport ${transport.name} takes jobs again.`);
        return;
      }
      if (refusals === 0) log.warn(`The transport ${transport.name} takes no jobs: ${refused}. Trying again.`);
      const pause = Math.min(FIRST_PAUSE_MS * 2 ** refusals, LONGEST_PAUSE_MS);
      // Half of it is jitter: all processes meet a broker's outage at once.
      await this.#pauses.sleep(pause / 2 + (pause / 2) * random());
      if (this.#pauses.over || this.#now() >= until) {
        log.warn(`${messages.length} jobs could not be given to ${transport.name}; a wake pass pushes them again.`);
        return;
      }
    }
  }

  /** Why the transport did not take them; undefined when it did. One that never answers must not end all sending. */
  async #refusal(messages: readonly JobMessage[], ms: number): Promise<string | undefined> {
    let refused: string | undefined;
    const sent = (async () => this.parts.transport.send(messages))().catch((error: unknown) => {
      refused = errorLine(error);
    });
    return (await within(ms, sent)) ? refused : `no answer in ${Math.round(ms)} ms`;
  }
}
