import type { JoinedTransaction } from './joined-transaction.js';
import type { SubjectName } from './step-store.js';

/** What a touch reached. */
export interface Touched {
  /** Open runs about the subject. */
  readonly runs: number;
  /** Waits of polls that were ended: they look again now. */
  readonly polls: number;
  /** Stage runs that go on for it: jobs became due. */
  readonly resumed: number;
}

export interface SubjectStore {
  /**
   * A subject changed: polls of this owner's open runs about it look again at once, and no others do (WAIT-1).
   *
   * Under the runs' locks, waited for in id order, it raises `ClaimedRun.touches` of each, then ends the polls that wait. One that
   * was asked before the touch and is not written yet is ended by its `suspend`, which is under the same lock and compares
   * `touches` with what its claim had: whatever the order of the two, none sleeps through it.
   */
  touch(subject: SubjectName, ownerId: string | null, transaction?: JoinedTransaction): Promise<Touched>;
}
