import { triggerNote } from '../../engine/graph/index.js';
import type { ClaimedSchedule, ScheduleMove, TriggerOutcome } from '../../engine/ports/index.js';
import type { DueInstants } from '../../engine/schedule/index.js';
import type { TriggeredRun } from './triggered-start.js';

/** What one pass did with a schedule, and how far it came. */
export class ScheduleTally {
  started = 0;
  #passedOver = 0;
  #last: number | undefined;
  #runId: string | null = null;
  #outcome: TriggerOutcome | null = null;
  #error: string | null = null;
  #open: boolean;

  constructor(
    private readonly claimed: ClaimedSchedule,
    private readonly due: DueInstants,
  ) {
    this.#open = claimed.lastRunOpen;
    if (!due.missed) return;
    this.#outcome = 'missed';
    this.#passedOver = 1;
  }

  /** A run of this schedule is open. */
  get isOpen(): boolean {
    return this.#open;
  }

  /** Whether there is something to write: not where the first instant has to be tried again. */
  get moved(): boolean {
    return this.#last !== undefined || this.due.instants.length === 0;
  }

  ran(instant: number, { runId, created, refused }: TriggeredRun): void {
    if (refused) this.#passedOver += 1;
    else if (created) this.started += 1;
    this.#open = !refused;
    this.#runId = runId;
    this.#end(instant, refused ? 'refused' : 'started');
  }

  overlap(instant: number): void {
    this.#passedOver += 1;
    this.#end(instant, 'overlap');
  }

  failed(instant: number, error: string): void {
    this.#passedOver += 1;
    this.#end(instant, 'failed', error);
  }

  move(): ScheduleMove {
    const { due, claimed } = this;
    const done = this.#last === due.instants.at(-1);
    return {
      id: claimed.id,
      version: claimed.version,
      cursor: done ? due.cursor : this.#last!,
      // What is left is due already.
      next: done ? due.next : due.instants[due.instants.indexOf(this.#last!) + 1]!,
      ...triggerNote({
        runId: this.#runId,
        outcome: this.#outcome,
        error: this.#error,
        started: this.started,
        passedOver: this.#passedOver,
      }),
    };
  }

  #end(instant: number, outcome: TriggerOutcome, error: string | null = null): void {
    this.#last = instant;
    this.#outcome = outcome;
    this.#error = error;
  }
}
