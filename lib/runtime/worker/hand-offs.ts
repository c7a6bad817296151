import type { NextId } from '../../engine/ports/index.js';
import type { HandOffOffer } from './outcome-records.js';

/** Stages that one slot may run in a row, and for how long, before the queue decides again. */
const MOST_IN_A_ROW = 100;
const LONGEST_ROW_MS = 10_000;

export interface HandOffSettings {
  readonly workerId: string;
  readonly queues: readonly string[] | null;
  readonly nextId: NextId;
  /** Asked before each offer: false where nothing more may be begun. */
  readonly mayOffer: () => boolean;
  /** Told of each offer made. */
  readonly onOffer?: () => void;
}

/** Whether a slot offers to go on with the next stage itself; one for each claimed job. */
export class HandOffs {
  #offers = 0;
  readonly #until: number;

  constructor(
    private readonly settings: HandOffSettings,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.#until = this.now() + LONGEST_ROW_MS;
  }

  /** How many were made; not each is taken. */
  get offers(): number {
    return this.#offers;
  }

  mayOffer(): boolean {
    return this.#offers < MOST_IN_A_ROW && this.settings.mayOffer() && this.now() < this.#until;
  }

  readonly offer = (): HandOffOffer => {
    this.#offers++;
    const { nextId, workerId, queues, onOffer } = this.settings;
    onOffer?.();
    return { token: nextId(), workerId, queues };
  };
}
