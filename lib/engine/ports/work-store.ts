import type { FailureRecord } from '../codec/failure-record.js';
import type { JoinedTransaction } from './joined-transaction.js';
import type { JobMessage } from './job-transport.js';
import type { EngineEvent, JsonText, LostOutcome, RunState, StageOutcome, Transition } from '../state/rows.js';
import type { AttemptNotes } from '../state/notes.js';
import type { RunStatus, StageRunStatus } from '../state/statuses.js';
import type { SubjectName } from './step-store.js';

export interface ClaimRequest {
  /** Unique per process incarnation (LEASE-1, fault C5). */
  readonly workerId: string;
  readonly limit: number;
  /** null = every queue. */
  readonly queues: readonly string[] | null;
  /** Definition keys this process has learned it can't serve (GHOST-3): skipped before LIMIT. */
  readonly unserved: readonly string[];
}

export interface ClaimedJob {
  /** `cancel` calls the stage's cancel hook; its stage run stays CANCELLED. */
  readonly kind: 'execute' | 'cancel';
  readonly jobId: string;
  /** Fences every write of this attempt (LEASE-5). */
  readonly token: string;
  readonly run: ClaimedRun;
  readonly stageRun: ClaimedStageRun;
  /** COMPLETED and SKIPPED stage runs of this generation, oldest first; empty for the first stage. */
  readonly earlier: readonly EarlierStageRun[];
  /** Nodes with visits in this generation that `earlier` does not tell of, beside this one: open ones, failed or cancelled ones. */
  readonly unlisted: readonly string[];
  /** In this generation the run has come to nothing after it. */
  readonly isLatest: boolean;
}

export interface ClaimedRun {
  readonly id: string;
  readonly definitionId: string;
  readonly definitionVersion: number;
  readonly definitionKey: string;
  readonly generation: number;
  /** How deep it is nested, the root being 0 (LIMIT-2). */
  readonly depth: number;
  readonly ownerId: string | null;
  readonly subject: SubjectName | null;
  /** At its start the subject was seen to be its owner's. */
  readonly subjectSeen: boolean;
  /** How often the subject was touched, as of the claim; a stage that was handed off has its run's last claim. */
  readonly touches: number;
  readonly actor: JsonText | null;
  readonly trace: string | null;
  readonly priority: number;
  readonly queue: string | null;
  readonly input: JsonText;
}

export interface ClaimedStageRun {
  readonly id: string;
  readonly node: string;
  readonly key: string;
  readonly stage: string;
  readonly visit: number;
  readonly ordinal: number;
  /** This attempt's number, from 1. For `cancel` jobs: tries of the hook. */
  readonly attempt: number;
  /** Attempts before this one that no longer count against the budget (a manual retry renewed it). */
  readonly budgetFrom: number;
  readonly deferrals: number;
  /** It was claimed before: its step ledger may hold something. */
  readonly hasLedger: boolean;
  /** It goes on after a wait, its attempt the same as before. */
  readonly resumed: boolean;
}

export interface EarlierStageRun {
  readonly node: string;
  readonly key: string;
  readonly stage: string;
  readonly output: JsonText | null;
  readonly status: 'COMPLETED' | 'SKIPPED';
  /** Which way a node of a graph went; null = its usual one. */
  readonly outcome: string | null;
}

/** A job to be sent: a message without its id. */
export type UnsentJob = Omit<JobMessage, 'id'> & {
  /** How often its stage run went on after a wait: a part of the message's id. */
  readonly resumes: number;
};

/** Why a job seen was not taken (GHOST-1, GHOST-4); such jobs are removed by the claim itself. */
export interface DiscardedJob {
  readonly jobId: string;
  readonly runId: string;
  readonly stageRunId: string;
  readonly ghost: 'orphan' | 'duplicate';
}

export interface ClaimResult {
  readonly claimed: readonly ClaimedJob[];
  readonly discarded: readonly DiscardedJob[];
}

/** What a worker holds: fences a write, and names a lease to extend. */
export interface Lease {
  readonly jobId: string;
  readonly runId: string;
  readonly stageRunId: string;
  readonly token: string;
}

/**
 * An outcome whose consequence is known without other rows: the end of a single stage with its successor, or any attempt
 * that goes back to PENDING.
 */
export interface LinearRecord {
  readonly lease: Lease;
  readonly attempt: number;
  readonly outcome: StageOutcome;
  /** Of `completed` and `skipped`: what follows. Null for `retry` and `released`. */
  readonly transition: Transition | null;
  /** Events of the outcome itself (`stage:completed`, `stage:retrying` …), before the transition's. */
  readonly events: readonly EngineEvent[];
  /** Set: the one PENDING stage run that follows is to be claimed by this worker in the same statement, with this token. */
  readonly handOff: {
    readonly token: string;
    readonly workerId: string;
    readonly queues: readonly string[] | null;
  } | null;
  readonly beside?: RecordedBeside;
}

/** What is written with an outcome, in its transaction, where there is something. Records with it cost a statement more. */
export interface RecordedBeside {
  /** Waits of the stage run that are still open are cancelled: the stage moves on (WAIT-2). */
  readonly cancelWaits: boolean;
  /** Failed steps that the next attempt runs again (STEP-7). */
  readonly reopen: readonly string[];
  /** Leases of step bodies that this attempt held are given up: it is handed back in good order (LEASE-6). */
  readonly freeSteps: boolean;
  readonly notes: AttemptNotes | null;
}

/** An outcome whose consequence depends on other rows: a branch of a group, a terminal failure. */
export interface JoinedRecord {
  readonly lease: Lease;
  readonly attempt: number;
  readonly definitionKey: string;
  readonly node: string;
  readonly key: string;
  readonly visit: number;
  readonly outcome: StageOutcome;
  readonly events: readonly EngineEvent[];
  readonly beside?: RecordedBeside;
}

export type RecordVerdict =
  /** Written. `handedOff`: the next stage run is claimed by this worker with the token it proposed. */
  | { readonly verdict: 'recorded'; readonly handedOff: boolean; readonly finished: FinishedRun | null }
  /** Somebody else holds the run's lock: nothing written, try again (alone, waiting). */
  | { readonly verdict: 'busy' }
  /** The fence did not hold: lease lost, run ended, or this very write was recorded and its answer lost. Read `readFences`. */
  | { readonly verdict: 'not-fenced' };

export interface FinishedRun {
  readonly runId: string;
  readonly status: RunStatus;
  readonly awaited: boolean;
  /** Its parent waits for it: its end has to be delivered (STEP-9). */
  readonly child?: boolean;
}

/** What happened to a run's open nodes by the outcomes just stored. */
export type SettleEvent =
  | { readonly type: 'node-settled'; readonly node: string; readonly visit: number }
  | {
      readonly type: 'stage-failed';
      readonly stageRunId: string;
      readonly key: string;
      readonly failure: FailureRecord;
    }
  /** An escalation has done what it is for, or has failed: neither ends the visit by itself, nor the run (ESC-2). */
  | { readonly type: 'escalation-ended'; readonly stageRunId: string; readonly failure: FailureRecord | null };

/**
 * Asked after fence and lock, inside the transaction, once a run: all that the outcomes of one call came to is given at once,
 * and the rows are those after all of them.
 */
export type DecideSettled = (definitionKey: string, state: RunState, events: readonly SettleEvent[]) => Transition;

export interface RecordOptions {
  /** Wait for locks up to this long instead of skipping (the slow lane); then `busy`. */
  readonly lockTimeoutMs?: number;
}

export interface Fence {
  readonly stageRunId: string;
  readonly status: StageRunStatus;
  readonly token: string | null;
  readonly runStatus: RunStatus;
}

export type LeaseState = 'held' | 'lost' | 'cancelled';

export interface ExpiredLease extends Lease {
  readonly kind: 'execute' | 'cancel';
  readonly definitionKey: string;
  readonly node: string;
  readonly key: string;
  readonly stage: string;
  readonly visit: number;
  readonly attempt: number;
  readonly losses: number;
  readonly workerId: string;
  /** `cap`: ran longer than the absolute timeout, as far as its heartbeats prove; `stale`: else without a heartbeat. */
  readonly reason: 'stale' | 'cap';
}

export interface LeaseLimits {
  readonly staleMs: number;
  /** 0 = no absolute cap; a job's own cap raises it. */
  readonly capMs: number;
}

export interface LostRecord {
  readonly expired: ExpiredLease;
  readonly outcome: LostOutcome;
  readonly events: readonly EngineEvent[];
}

export interface WorkStore {
  /** Takes up to `limit` due jobs, highest priority and oldest first. Never waits for a lock (SKIP LOCKED). */
  claim(request: ClaimRequest): Promise<ClaimResult>;

  /**
   * Due jobs that no transport carries yet, highest priority and oldest first: from now on one does, and `claim` passes them
   * by (JOB-5). Two processes never get the same. Never waits. What is then lost on the way `requeueSent` finds.
   */
  takeUnsent(limit: number): Promise<UnsentJob[]>;

  /**
   * Takes one stage run's job by id, for external transports (`handleJob`), whether it was sent or not. `race`: no such row is
   * visible yet. With `attempt` only the job of that attempt, and only when it is due: a message that comes twice must not
   * begin the retry of what it began before, nor cut its backoff short; it is a `duplicate`.
   */
  claimStageRun(
    stageRunId: string,
    workerId: string,
    wanted?: { readonly kind: ClaimedJob['kind']; readonly attempt: number | null },
  ): Promise<ClaimedJob | 'race' | 'orphan' | 'duplicate'>;

  /**
   * Stores outcomes and what follows from them, one statement for the whole group; each row fenced by its claim token and
   * by the run being RUNNING. Verdicts stand in the order of `records`. A data error (SQLSTATE 22, 23) of one row fails
   * the call: its statement writes nothing, the caller tries each record alone. Records that fan out are a statement of
   * their own; what that had written before another failed answers `not-fenced` then, and its fence says that it stands.
   */
  record(records: readonly LinearRecord[], options?: RecordOptions): Promise<RecordVerdict[]>;

  /** Stores outcomes under their runs' locks, then asks `decide` what follows from the rows as they are now, then writes that. */
  settle(records: readonly JoinedRecord[], decide: DecideSettled, options?: RecordOptions): Promise<RecordVerdict[]>;

  /**
   * Stores one outcome, and what follows from it, as part of the host's transaction, which is READ COMMITTED and commits next, or rolls
   * back unless the verdict is `recorded` (TX-3). Locks run, then stage run, and waits for them: what was not fenced can't be committed,
   * and a lease lost or a run ended before the locks were had is seen. Never `busy`. A linear record's hand-off is passed over.
   */
  recordWithin(
    record: LinearRecord | JoinedRecord,
    decide: DecideSettled,
    transaction: JoinedTransaction,
  ): Promise<RecordVerdict>;

  /** Re-reads what became of attempts whose record was not fenced or whose answer was lost. */
  readFences(stageRunIds: readonly string[]): Promise<Fence[]>;

  /** Extends leases in one statement. `lost` only when a plain read shows another token or none. */
  extendLeases(leases: readonly Lease[]): Promise<Map<string, LeaseState>>;

  /** Ends a `cancel` job: removed, or tried again after `retryInMs`. Fenced by its token; false = no longer held. */
  finishCancelJob(lease: Lease, retryInMs: number | null): Promise<boolean>;

  /** Writes a cancel job for a stage run whose body ended after its run was cancelled. */
  addCancelJob(lease: Lease, jobId: string, queue: string): Promise<void>;

  /** Leases past their time. Read without locks: `reap` checks again under the run's lock. */
  findExpired(limits: LeaseLimits, limit: number): Promise<ExpiredLease[]>;

  /** Ends attempts whose leases are still over, for the same reason, when their run's lock is held. Returns how many rows were ended. */
  reap(records: readonly LostRecord[], limits: LeaseLimits, decide: DecideSettled): Promise<number>;
}
