import type { ClaimResult, NextId, Notifier, WorkflowStore } from '../../engine/ports/index.js';
import { detached } from '../background/detached.js';
import type { Outages } from '../background/outages.js';
import { errorLine, errorStack, type RuntimeLog } from '../background/runtime-log.js';
import { within } from '../background/within.js';
import type { CancelledRuns } from '../lease/cancelled-runs.js';
import type { Heartbeat } from '../lease/heartbeat.js';
import type { LiveAttempts } from '../lease/live-attempts.js';
import { HandOffs, type HandOffSettings } from './hand-offs.js';
import type { JobRunner } from './job-runner.js';
import type { Recorder } from './recorder.js';
import { Slots } from './slots.js';
import type { UnservedDefinitions } from './unserved-definitions.js';

export interface WorkerSettings {
  /** Unique per process incarnation: two lives of one process must not take each other's leases for their own (fault C5). */
  readonly workerId: string;
  readonly concurrency: number;
  /** Milliseconds between looks of an idle worker. */
  readonly pollMs: number;
  /** null = every queue. */
  readonly queues: readonly string[] | null;
}

export interface WorkerParts {
  readonly store: Pick<WorkflowStore, 'claim' | 'isTransient'>;
  readonly runner: JobRunner;
  readonly recorder: Recorder;
  readonly heartbeat: Heartbeat;
  readonly live: LiveAttempts;
  readonly cancelled: CancelledRuns;
  readonly unserved: UnservedDefinitions;
  readonly notifier: Pick<Notifier, 'subscribe' | 'publish'>;
  readonly nextId: NextId;
  readonly outages: Outages;
  readonly log: RuntimeLog;
  readonly random: () => number;
  /** What happens, for tests and metrics. Must not throw. */
  readonly onEvent?: (event: WorkerEvent) => void;
}

export type WorkerEvent =
  { readonly type: 'claimed'; readonly result: ClaimResult } | { readonly type: 'idle' } | { readonly type: 'stopped' };

/** A worker whose slots come free one by one waits so long for more of them before it claims for a few. */
const PATIENCE_MS = 10;
/** Pause between two hints of work for other processes. */
const TELL_PAUSE_MS = 25;
/** Part of the poll interval that is random. */
const POLL_JITTER = 0.1;
/** At the end of a shutdown: time for bodies to end after their abort, and for the last outcomes to be written. */
const ABORT_WAIT_MS = 1_000;
const FLUSH_WAIT_MS = 5_000;

/**
 * Fills its slots with claimed jobs, for as long as it runs. One claim at a time; it looks when something may be due: a
 * kick from this process, a hint from another, a full page claimed before, or the poll interval.
 */
export class Worker {
  readonly #slots: Slots;
  readonly #handOffs: HandOffSettings;
  #running = false;
  #asked = false;
  #claim: Promise<number> | undefined;
  #poll: NodeJS.Timeout | undefined;
  #patience: NodeJS.Timeout | undefined;
  #patient = true;
  #telling: NodeJS.Timeout | undefined;
  #untold = false;
  #scheduled = false;
  #unsubscribe: (() => void) | undefined;
  #whenIdle: (() => void)[] = [];
  #stopping: Promise<void> | undefined;

  constructor(
    private readonly settings: WorkerSettings,
    private readonly parts: WorkerParts,
  ) {
    this.#slots = new Slots(settings.concurrency);
    const { workerId, queues } = settings;
    this.#handOffs = { workerId, queues, nextId: parts.nextId, mayOffer: () => true };
  }

  get freeSlots(): number {
    return this.#running ? this.#slots.free : 0;
  }

  /** Begins to claim. Twice is once. */
  start(): void {
    if (this.#running) return;
    this.#running = true;
    this.#unsubscribe = this.parts.notifier.subscribe((hint) => {
      if (hint.work) this.kick();
      if (hint.cancelled) void this.cancelled(hint.cancelled);
    });
    this.#armPoll();
    this.kick();
  }

  /** Something may be due. Cheap, and never throws: kicks of one turn of the event loop are one look. */
  kick(): void {
    this.#asked = true;
    if (this.#scheduled || !this.#running) return;
    this.#scheduled = true;
    detached(() =>
      setImmediate(() => {
        this.#scheduled = false;
        this.#look();
      }),
    );
  }

  /** Jobs became due in this process: takes them, or tells others when it can't. */
  workAppeared(count: number, queues: ReadonlySet<string>): void {
    const own = this.settings.queues;
    const serves = own === null || queues.size === 0 || [...queues].some((queue) => own.includes(queue));
    if (serves) this.kick();
    if (!serves || this.freeSlots < count) this.#tellOthers();
  }

  /**
   * These runs are said to have ended: bodies of theirs that run here are told by their signals, once the store confirms it
   * (a hint may be late, and the run have been retried since). Never rejects.
   */
  async cancelled(runIds: readonly string[]): Promise<void> {
    this.parts.cancelled.add(runIds);
    const attempts = this.parts.live.ofRuns(new Set(runIds));
    if (attempts.length === 0) return;
    try {
      await this.parts.heartbeat.check(attempts);
    } catch (error) {
      // The next heartbeat asks again.
      this.parts.log.debug(`Whether ${runIds.length} runs were cancelled could not be read: ${errorLine(error)}`);
    }
  }

  /** One claim for all free slots; resolves when all that it took has ended. Returns how many jobs that were. Never rejects. */
  async runOnce(): Promise<number> {
    await this.#claim;
    const claimed = await this.#claimNow();
    await this.parts.runner.whenIdle();
    return claimed;
  }

  /** Resolves when nothing runs and nothing more is known to be due. */
  idle(): Promise<void> {
    if (this.#isIdle()) return Promise.resolve();
    return new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  /**
   * Ends the worker within `graceMs` and some seconds: no claims from now on; running bodies may end, their leases kept;
   * after the grace they are aborted (`shutdown`), and what does not end then is handed back, its attempt not used up.
   * Resolves when the last outcome is written, or given up because the database does not answer. Never rejects. For good: a
   * second call waits for the first one's end.
   */
  stop(graceMs: number): Promise<void> {
    return (this.#stopping ??= this.#end(graceMs));
  }

  async #end(graceMs: number): Promise<void> {
    const { runner, live, recorder, heartbeat, log } = this.parts;
    this.#running = false;
    this.#asked = false;
    clearTimeout(this.#poll);
    clearTimeout(this.#patience);
    this.#unsubscribe?.();
    runner.drain();
    const drained = Promise.resolve(this.#claim).then(() => runner.whenIdle());
    if (!(await within(graceMs, drained))) {
      log.warn(
        `${live.size} stages still run after the shutdown grace of ${graceMs} ms: they are aborted and handed back.`,
      );
      for (const attempt of live.all()) attempt.abort('shutdown');
      if (!(await within(ABORT_WAIT_MS, drained))) for (const attempt of live.all()) attempt.abandon?.();
      if (!(await within(FLUSH_WAIT_MS, drained)))
        log.error(`${live.size} stages could not be handed back: their leases end by themselves.`);
    }
    recorder.end();
    await within(ABORT_WAIT_MS, drained);
    await within(ABORT_WAIT_MS, heartbeat.stop());
    clearTimeout(this.#telling);
    this.#telling = undefined;
    this.#tellIdle();
    this.parts.onEvent?.({ type: 'stopped' });
  }

  #look(): void {
    if (!this.#running || this.#claim) return;
    if (!this.#asked) return this.#tellIdle();
    if (this.#slots.free === 0) return;
    if (!this.#slots.worthAClaim && this.#patient) return this.#waitForMore();
    void this.#claimNow();
  }

  /** At once, and then no more often than now and then: a process under load would else tell of every group it records. */
  #tellOthers(): void {
    this.#untold = this.#telling !== undefined;
    if (this.#untold) return;
    this.parts.notifier.publish({ work: true });
    this.#telling = setTimeout(() => {
      this.#telling = undefined;
      if (this.#untold) this.#tellOthers();
    }, TELL_PAUSE_MS);
  }

  /** Long bodies in most slots must not keep the rest empty: after a moment a few are enough. */
  #waitForMore(): void {
    this.#patience ??= setTimeout(() => {
      this.#patience = undefined;
      this.#patient = false;
      this.#look();
    }, PATIENCE_MS);
  }

  #claimNow(): Promise<number> {
    this.#patient = true;
    this.#asked = false;
    this.#claim = this.#claimJobs(this.#slots.free);
    return this.#claim;
  }

  async #claimJobs(limit: number): Promise<number> {
    const { store, unserved, outages, log } = this.parts;
    const { workerId, queues } = this.settings;
    let result: ClaimResult | undefined;
    try {
      result = limit > 0 ? await store.claim({ workerId, limit, queues, unserved: unserved.keys() }) : NOTHING;
      outages.recovered('claiming jobs');
    } catch (error) {
      this.#retryLater(store.isTransient(error) ? outages.failed('claiming jobs', error) : this.settings.pollMs);
      if (!store.isTransient(error)) log.error(`Claiming jobs failed: ${errorLine(error)}`, errorStack(error));
    }
    this.#claim = undefined;
    if (!result) return 0;
    const { claimed, discarded } = result;
    if (limit > 0 && claimed.length + discarded.length >= limit) this.#asked = true;
    if (claimed.length > 0 || discarded.length > 0) this.parts.onEvent?.({ type: 'claimed', result });
    for (const job of claimed) void this.#occupy(job);
    this.#look();
    return claimed.length;
  }

  async #occupy(job: ClaimResult['claimed'][number]): Promise<void> {
    this.#slots.take();
    await this.parts.runner.run(job, new HandOffs(this.#handOffs));
    this.#slots.release();
    this.#look();
  }

  #retryLater(ms: number): void {
    if (!this.#running) return;
    clearTimeout(this.#poll);
    this.#armPoll(ms);
  }

  #armPoll(ms = this.settings.pollMs * (1 + POLL_JITTER * (2 * this.parts.random() - 1))): void {
    this.#poll = setTimeout(() => {
      this.#armPoll();
      this.kick();
    }, ms);
  }

  #isIdle(): boolean {
    return !this.#asked && !this.#claim && this.parts.runner.running === 0;
  }

  #tellIdle(): void {
    if (!this.#isIdle()) return;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
    this.parts.onEvent?.({ type: 'idle' });
  }
}

const NOTHING: ClaimResult = { claimed: [], discarded: [] };
