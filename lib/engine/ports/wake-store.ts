import type { JsonText } from '../state/rows.js';
import type { AuditEntry } from './audit-store.js';

/** What one cheap statement says about what a wake pass would find: parts with nothing to do are not even asked. */
export interface WakeProbe {
  readonly expiredLeases: boolean;
  readonly delayedDue: boolean;
  /** Milliseconds until the next delayed job is due, or null. */
  readonly nextDelayedInMs: number | null;
  readonly deadlineDue: boolean;
  /** Messages that a transport was given are overdue. */
  readonly sentOverdue: boolean;
  readonly outboxDue: boolean;
  readonly stuckSuspects: boolean;
  /** Waits other than for events that are due. */
  readonly waitsDue: boolean;
  /** Milliseconds until the next wait is due by itself, or null. */
  readonly nextWaitInMs: number | null;
  readonly schedulesDue: boolean;
  /** Milliseconds until the next schedule is due, or null. */
  readonly nextScheduleInMs: number | null;
  /** Waits for events that are past their limit. */
  readonly eventWaitsOverdue: boolean;
  /** Stored events, or waits for events, whose matching is not known to have ended for some seconds. */
  readonly unmatched: boolean;
  /** Waited-for children that ended and whose parents don't know. */
  readonly childrenEnded: boolean;
  /** Open children whose parents ended. */
  readonly orphans: boolean;
  /** Events kept longer than `eventRetentionMs`. */
  readonly expiredEvents: boolean;
  readonly expiredKeys: boolean;
}

export interface StuckPage {
  readonly runIds: readonly string[];
  /** Where the next slice begins; null = from the start again. */
  readonly next: string | null;
}

export interface PromotedJobs {
  readonly promoted: number;
  /** Of those: retries. */
  readonly retries: number;
  /** Of those: escalations that have not been tried yet. */
  readonly escalations: number;
  /** Milliseconds until the next one is due, or null. */
  readonly nextInMs: number | null;
}

export interface WakeStore {
  /** `aheadMs`: how far `wake(now)` lies ahead of the clock (WAKE-5); it moves what is due, never leases or stuck runs. */
  probe(thresholds: {
    staleMs: number;
    capMs: number;
    stuckAfterMs: number;
    requeueAfterMs: number;
    eventRetentionMs: number;
    aheadMs: number;
  }): Promise<WakeProbe>;

  /** Delayed jobs whose time has come become due, PENDING runs RUNNING. Never waits. */
  promoteDelayed(limit: number, aheadMs: number): Promise<PromotedJobs>;

  /**
   * Jobs that were sent `requeueAfterMs` ago and that nobody has claimed are due again: their messages count as lost (JOB-5), or
   * the host has gone back to the built-in worker. Longest sent first. Never waits. Returns how many.
   */
  requeueSent(requeueAfterMs: number, limit: number): Promise<number>;

  /**
   * RUNNING runs without a job, but for those of escalations, that have not moved for `stuckAfterMs`. Looks at `limit` unfinished runs after `after`, in id
   * order: a rotating slice, so that its cost does not grow with the runs that sleep. `changeRun` checks again under the lock.
   */
  findStuck(stuckAfterMs: number, after: string | null, limit: number): Promise<StuckPage>;

  /** Unfinished runs whose deadline has passed, oldest deadline first (CANCEL-4). `changeRun` checks again under the lock. */
  findOverdue(limit: number, aheadMs: number): Promise<{ readonly runId: string }[]>;

  /** Removes start keys whose time is over. Returns how many. */
  pruneKeys(limit: number): Promise<number>;

  /** The database's clock, offset included, as ISO 8601. */
  now(): Promise<string>;
}

export interface OutboxRow {
  readonly id: string;
  /** Null: its events are about a definition, and no run stands behind them. */
  readonly runId: string | null;
  /** Rows of one series are delivered in order: the run's id, else the definition's own. */
  readonly seriesId: string;
  readonly definitionId: string;
  readonly definitionVersion: number;
  /** Of the run: what it is pinned to. */
  readonly definitionKey: string | null;
  readonly ownerId: string | null;
  readonly subjectType: string | null;
  readonly subjectId: string | null;
  readonly actor: JsonText | null;
  readonly trace: string | null;
  /** Array of EngineEvent. */
  readonly events: JsonText;
  /** How many of `events` every handler has had. */
  readonly delivered: number;
  readonly attempts: number;
  readonly createdAt: string;
}

/** When events are taken for those that nobody will ever hear. */
export interface UnheardRows {
  /** They are at least this old, in milliseconds. */
  readonly olderThanMs: number;
  /** No relay with listeners leased their slot for so many milliseconds. */
  readonly unheardForMs: number;
}

export interface OutboxStore {
  /**
   * Takes or keeps relay leases on hash slots. Returns the slots this relay holds now.
   *
   * A relay with listeners leaves its mark on them: here somebody hears. One without gives `unheardForMs`, leaves none, and
   * gets only slots on which nobody left a mark for so long: it must not stand in the way of those that hear.
   */
  leaseSlots(relayId: string, ttlMs: number, most: number, unheardForMs?: number): Promise<number[]>;
  releaseSlots(relayId: string): Promise<void>;
  /** Rows of these slots in order, of each series only up to its first row that waits for a later try. */
  readOutbox(relayId: string, slots: readonly number[], limit: number): Promise<OutboxRow[]>;
  /** Removes rows every handler has had. */
  ackOutbox(ids: readonly string[]): Promise<void>;
  /** Keeps a row: `delivered` of its events are done; tried again after `retryInMs`, or dead-lettered when null. */
  failOutbox(id: string, delivered: number, message: string, retryInMs: number | null): Promise<void>;
  /** Removes rows that nobody came to hear, about `limit` at most. Returns how many; 0 = there are no more. */
  discardOutbox(relayId: string, slots: readonly number[], limit: number, unheard: UnheardRows): Promise<number>;
  listDeadLetters(limit: number): Promise<(OutboxRow & { error: string | null })[]>;
  /** Puts dead letters back, and keeps `audit` of each with it. Returns how many. */
  replayDeadLetters(ids: readonly string[], audit?: (letter: ReplayedLetter) => AuditEntry): Promise<number>;
}

export interface ReplayedLetter {
  /** Id of the outbox row. */
  readonly id: string;
  /** Null: it is about a definition. */
  readonly runId: string | null;
}

export interface DefinitionRow {
  readonly id: string;
  readonly version: number;
  readonly fingerprint: string;
  /** Canonical JSON of the structure. */
  readonly structure: JsonText;
}

export interface DefinitionStore {
  /** Remembers structures this build serves; says which known ones with unfinished runs differ (DEF-4). */
  registerDefinitions(
    definitions: readonly DefinitionRow[],
  ): Promise<{ id: string; version: number; fingerprint: string; unfinishedRuns: number }[]>;
}
