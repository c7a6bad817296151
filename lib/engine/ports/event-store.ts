import type { JsonText } from '../state/rows.js';
import type { AuditEntry } from './audit-store.js';
import type { JoinedTransaction } from './joined-transaction.js';
import type { OwnerScope } from './scope.js';
import type { EventMatch, SubjectName } from './step-store.js';

export interface NewEvent {
  readonly id: string;
  readonly ownerId: string | null;
  readonly key: string;
  readonly subject: SubjectName | null;
  readonly payload: JsonText;
  /** Where it comes from: the run that told of it, and on whose behalf; null: nobody knows. */
  readonly source?: JsonText | null;
  /** SHA-256 over owner, target and the sender's message id: a repeated send is a no-op. Null = each send counts. */
  readonly messageDigest: Buffer | null;
}

export interface StoredEvent {
  readonly id: string;
  readonly ownerId: string | null;
  readonly key: string;
  readonly subject: SubjectName | null;
  readonly payload: JsonText;
  readonly source?: JsonText | null;
}

/** A wait for an event, as matching sees it. */
export interface EventWait {
  readonly runId: string;
  readonly stageRunId: string;
  readonly key: string;
  readonly ownerId: string | null;
  readonly eventKey: string;
  readonly subject: SubjectName | null;
  readonly where: string | null;
  /** Its limit has passed: events recorded after it come too late (WAIT-3). */
  readonly overdue: boolean;
}

/** Where a walk over waits or events goes on; opaque. */
export type Cursor = string | null;

/** What became of a signal to a run. */
export type SignalVerdict = 'delivered' | 'stored' | 'duplicate' | 'ended';

/** A wait that a page of waits ended with: the next one begins behind it, whatever became of it since. */
export type WaitPlace = Pick<EventWait, 'stageRunId' | 'key'>;

export interface FiredTimeouts {
  /** Waits whose time is over for their stage. */
  readonly fired: number;
  /** Rows that were dealt with, those included that nobody awaited any more. */
  readonly ended: number;
  /** Waits whose run was locked by somebody: they come again. */
  readonly busy: number;
}

export interface EventStore {
  /** Stores an event. Matching is a transaction of its own, after the commit. False: this message was stored before. */
  storeEvent(event: NewEvent, transaction?: JoinedTransaction): Promise<boolean>;

  /**
   * Stores a signal to one run and, under the run's lock, gives it to the wait for that name that was awaited last, if there is one.
   * One that no wait is there for stays, and the next wait for that name gets it, oldest signal first. What `audit` makes of the
   * answer is kept in the same transaction.
   */
  sendSignal(
    event: NewEvent,
    runId: string,
    scope: OwnerScope,
    transaction?: JoinedTransaction,
    audit?: (verdict: SignalVerdict) => AuditEntry,
  ): Promise<SignalVerdict | 'not-found'>;

  /** Open waits of these keys and owner that could take this event: not of runs that had it already. In pages. */
  findWaits(event: StoredEvent, after: Cursor, limit: number): Promise<{ waits: EventWait[]; next: Cursor }>;

  /** Events kept that could end this wait, oldest first: same owner and key, its subject, recorded before its limit, and not had by its run. */
  findEvents(wait: EventWait, after: Cursor, limit: number): Promise<{ events: StoredEvent[]; next: Cursor }>;

  /**
   * Ends waits with their events, under the runs' locks: only waits that are still open, of runs that had not yet this event.
   * Returns which were: those of runs whose lock was held by others are not, and come again.
   */
  fireEvents(matches: readonly EventMatch[]): Promise<{ fired: EventMatch[]; busy: EventMatch[] }>;

  /** Stored events whose matching is not known to have ended, oldest first, in pages. `olderThanMs`: their sender may be at it. */
  unmatchedEvents(olderThanMs: number, after: Cursor, limit: number): Promise<{ events: StoredEvent[]; next: Cursor }>;
  /** Their matching has ended. */
  markMatched(eventIds: readonly string[]): Promise<void>;

  /**
   * Open waits for events that nobody has looked up stored events for: those of these stage runs, or of anybody from an age on, oldest
   * first, behind `after` where it is given. One that is gone stands before all others.
   */
  uncheckedWaits(
    of: readonly string[] | { readonly olderThanMs: number; readonly after?: WaitPlace },
    limit: number,
  ): Promise<EventWait[]>;
  markChecked(waits: readonly EventWait[]): Promise<void>;

  /**
   * Waits for events whose limit has passed, the longest first, behind `after` where it is given. After what lies there for them has been
   * matched, `fireTimeouts` ends them.
   */
  overdueEventWaits(limit: number, aheadMs: number, after?: WaitPlace): Promise<EventWait[]>;
  /** Ends them as timed out, under the runs' locks; those whose stage or run has ended are cancelled. */
  fireTimeouts(waits: readonly EventWait[], aheadMs: number): Promise<FiredTimeouts>;

  /** Removes events kept longer than `retentionMs`. Returns how many. */
  pruneEvents(retentionMs: number, limit: number): Promise<number>;
}
