import type { ClaimedJob, LedgerRow, Lease } from '../../engine/ports/index.js';
import { StageAbortedError, type StageAbortReason } from '../../errors/index.js';
import type { ReplayStop } from '../../engine/steps/index.js';
import type { AttemptReplay } from '../steps/attempt-replay.js';
import type { AttemptNotebook } from './attempt-notebook.js';
import type { ServedStage } from './served-stages.js';

/** The host's writes that are to commit with the outcome. */
export type HostWrite = (manager: unknown) => unknown;

/**
 * One attempt of a stage run in this process: its lease, its abort signal, and what became known about it while its body
 * ran. Fenced by its token: a later attempt of the same stage run is another `Attempt`.
 */
export class Attempt {
  readonly lease: Lease;
  #controller: AbortController | undefined;
  #reason: StageAbortReason | undefined;
  #cancelled = false;
  #leaseLost = false;
  #dropped = false;
  #onDropped: (() => void) | undefined;

  /** The outcome is decided; the body may still be at it, and nothing it does counts. */
  over = false;
  /** Ends the wait for the body: set while it runs. */
  abandon: (() => void) | undefined;
  /** Drops the body: it waits, or can't go on. Set while it runs. */
  interrupt: ((stop: ReplayStop) => void) | undefined;
  /** Its durable calls, once it makes one. */
  replay: AttemptReplay | undefined;
  /** What its end means for its ledger. */
  ended: ReturnType<AttemptReplay['replay']['end']> | undefined;
  /** What its body gave to `ctx.recordWith`, in order; undefined where it gave nothing. */
  writes: HostWrite[] | undefined;
  /** Its outcome is being written within a transaction of the host's: what its lease looks like meanwhile says nothing. */
  recording = false;
  /** Its stage suspended itself, and is asked whether it is done. */
  checking = false;
  /** What its ledger says of the wait of the whole stage; null: it does not wait so; undefined until it is read. */
  completion: LedgerRow | null | undefined;
  /** What it noted down, once it does. */
  notebook: AttemptNotebook | undefined;

  constructor(
    readonly job: ClaimedJob,
    readonly served: ServedStage,
  ) {
    this.lease = { jobId: job.jobId, runId: job.run.id, stageRunId: job.stageRun.id, token: job.token };
  }

  /** The run was ended by somebody else while the body ran. */
  get cancelled(): boolean {
    return this.#cancelled;
  }

  /** Another worker may run this stage now. */
  get leaseLost(): boolean {
    return this.#leaseLost;
  }

  /** Made on first use: most bodies never look at it. One controller an attempt, never derived from a longer-lived one. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#reason) this.#controller.abort(this.#error(this.#reason));
    }
    return this.#controller.signal;
  }

  /** The body waits, or can't go on: it never ends. */
  drop(): void {
    this.#dropped = true;
    this.#onDropped?.();
  }

  /** Resolves when it is dropped. */
  dropped(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#dropped) resolve();
      else this.#onDropped = resolve;
    });
  }

  /** Fires the signal with the first reason given; later ones are still noted for what follows. */
  abort(reason: StageAbortReason): void {
    if (reason === 'cancelled') this.#cancelled = true;
    if (reason === 'lease-lost') this.#leaseLost = true;
    if (this.#reason) return;
    this.#reason = reason;
    this.#controller?.abort(this.#error(reason));
  }

  #error(reason: StageAbortReason): StageAbortedError {
    return new StageAbortedError({ stage: this.served.stage.key, reason });
  }
}
