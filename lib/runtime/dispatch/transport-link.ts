import type { JobTransport, Notifier } from '../../engine/ports/index.js';
import { errorLine, type RuntimeLog } from '../background/runtime-log.js';
import { within } from '../background/within.js';
import { CancelledRuns } from '../lease/cancelled-runs.js';
import type { Worker } from '../worker/worker.js';
import type { JobDispatcher } from './job-dispatcher.js';
import type { MessageHandler } from './message-handler.js';

export interface TransportLinkParts {
  readonly transport: JobTransport;
  readonly dispatcher: JobDispatcher;
  readonly handler: MessageHandler;
  /** Tells bodies that run here of their runs' ends. Its own loop stands still. */
  readonly worker: Pick<Worker, 'cancelled'>;
  readonly notifier: Pick<Notifier, 'subscribe' | 'publish'>;
  /** Null = every queue. */
  readonly queues: readonly string[] | null;
  readonly concurrency: number;
  readonly log: RuntimeLog;
}

/** After the grace: time for aborted bodies to be handed back and their messages answered, then for the broker to let go. */
const ANSWER_MS = 2_000;
const CLOSE_MS = 5_000;

/** Stands where the worker's loop does when an external transport carries the jobs (JOB-3, JOB-5). */
export class TransportLink {
  readonly #cancelled = new CancelledRuns();
  #unsubscribe: (() => void) | undefined;
  #stopping: Promise<void> | undefined;

  constructor(private readonly parts: TransportLinkParts) {}

  /**
   * Begins to send and, where this process executes, to take. Rejects with what keeps the transport from starting; may then be
   * called again.
   */
  async start(executes: boolean): Promise<void> {
    const { transport, dispatcher, handler, concurrency, queues } = this.parts;
    if (executes) await transport.start({ handle: handler.handle, concurrency, queues });
    if (this.#stopping) return;
    this.#unsubscribe ??= this.#listen();
    dispatcher.start();
  }

  /** Something may be due. Never throws. */
  kick(): void {
    this.parts.dispatcher.kick();
  }

  /** Jobs became due in this process: sends them, or tells others when it can't. Never throws. */
  workAppeared(): void {
    const { dispatcher, notifier } = this.parts;
    if (dispatcher.running) dispatcher.kick();
    else notifier.publish({ work: true });
  }

  /** These runs have ended, committed: what the transport still carries of them is in vain. Never throws. */
  cancelled(runIds: readonly string[]): void {
    // Hints of joined transactions come back to this process, and others may repeat them.
    const fresh = runIds.filter((runId) => !this.#cancelled.has(runId));
    this.#cancelled.add(fresh);
    if (!this.#stopping) for (const runId of fresh) void this.#cancelByRun(runId);
  }

  /** Ends sending and taking, within the grace and some seconds. Never rejects. Twice is once. */
  stop(graceMs: number): Promise<void> {
    return (this.#stopping ??= this.#end(graceMs));
  }

  #listen(): () => void {
    const { notifier, dispatcher, worker } = this.parts;
    return notifier.subscribe(({ work, cancelled }) => {
      if (work) dispatcher.kick();
      if (!cancelled) return;
      void worker.cancelled(cancelled);
      this.cancelled(cancelled);
    });
  }

  async #cancelByRun(runId: string): Promise<void> {
    const { transport, log } = this.parts;
    try {
      await transport.cancelByRun(runId);
    } catch (error) {
      // Its messages will be answered as ghosts.
      log.debug(`The messages of run ${runId} could not be taken back from ${transport.name}: ${errorLine(error)}`);
    }
  }

  async #end(graceMs: number): Promise<void> {
    const { transport, dispatcher, handler, log } = this.parts;
    this.#unsubscribe?.();
    const sent = dispatcher.stop();
    const closed = (async () => transport.stop(graceMs + ANSWER_MS))().catch((error: unknown) =>
      log.warn(`Closing the transport ${transport.name} failed: ${errorLine(error)}`),
    );
    handler.stop();
    if (!(await within(graceMs + ANSWER_MS + CLOSE_MS, Promise.all([sent, closed]))))
      log.warn(`Closing the transport ${transport.name} takes too long; it is left behind.`);
  }
}
