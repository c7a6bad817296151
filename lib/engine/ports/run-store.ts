import type { JsonText, RunState, Transition } from '../state/rows.js';
import type { StageProgress } from '../state/notes.js';
import type { RunStatus, StageRunStatus } from '../state/statuses.js';
import type { AnnotationRow } from './annotation-store.js';
import type { AuditEntry } from './audit-store.js';
import type { JoinedTransaction } from './joined-transaction.js';
import type { OwnerScope } from './scope.js';
import type { StepKind, StepStatus, SubjectName } from './step-store.js';
import type { FinishedRun } from './work-store.js';

/** A run as people read it. Instants are ISO 8601 strings of the database's clock. */
export interface RunRow {
  readonly id: string;
  readonly definitionId: string;
  readonly definitionVersion: number;
  readonly definitionKey: string;
  readonly status: RunStatus;
  readonly ownerId: string | null;
  readonly subjectType: string | null;
  readonly subjectId: string | null;
  readonly actor: JsonText | null;
  readonly generation: number;
  readonly priority: number;
  readonly queue: string | null;
  readonly createdAt: string;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  readonly failureCode: string | null;
  readonly failureMessage: string | null;
  readonly failedNode: string | null;
  readonly cancelReason: string | null;
}

/** With payloads: read one at a time, never in lists (fault K19). */
export interface RunDetails extends RunRow {
  readonly input: JsonText;
  readonly output: JsonText | null;
  readonly failureParams: JsonText | null;
  /** Every stage run that is open is SUSPENDED, and there is one: nothing runs or is due. Escalations don't count. */
  readonly waiting: boolean;
}

export interface StageRunRow {
  readonly id: string;
  readonly runId: string;
  readonly generation: number;
  readonly node: string;
  readonly key: string;
  readonly stage: string;
  readonly visit: number;
  readonly position: number;
  readonly ordinal: number;
  readonly status: StageRunStatus;
  readonly attempt: number;
  readonly losses: number;
  readonly createdAt: string;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  readonly skipReason: string | null;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  readonly output: JsonText | null;
  /** Which way a node of a graph went on; null = its usual one. */
  readonly outcome: string | null;
  /** What its body last said of how far it is (OBS-3). */
  readonly progress: StageProgress | null;
  /** When its job is due, while that waits for its time: an escalation's, a retry's. */
  readonly dueAt: string | null;
}

/** A failed or lost attempt (FAIL-2). Successful attempts are the stage run itself. */
export interface AttemptRow {
  readonly stageRunId: string;
  readonly attempt: number;
  readonly workerId: string | null;
  readonly startedAt: string | null;
  readonly endedAt: string;
  readonly durationMs: number | null;
  readonly code: string;
  readonly message: string;
  readonly stack: string | null;
  readonly cause: JsonText | null;
}

/** A row of the step ledger as people read it: a step, or a wait and what came of it. */
export interface StepHistoryRow {
  readonly stageRunId: string;
  readonly key: string;
  readonly kind: StepKind;
  readonly status: StepStatus;
  readonly seq: number | null;
  readonly attempt: number;
  readonly result: JsonText | null;
  /** A `FailureRecord` as JSON. */
  readonly failure: JsonText | null;
  readonly timedOut: boolean;
  /** When the wait is, or was, due by itself; null = only what it waits for ends it. */
  readonly dueAt: string | null;
  /** Event key, or name of a signal. */
  readonly eventKey: string | null;
  readonly childRunId: string | null;
  readonly createdAt: string;
  /** When it got its outcome, or was due. */
  readonly firedAt: string | null;
}

/** A line that a body wrote (OBS-3). */
export interface LogLineRow {
  readonly id: string;
  readonly stageRunId: string;
  readonly attempt: number;
  readonly level: 'log' | 'warn' | 'error';
  readonly message: string;
  readonly createdAt: string;
}

export interface RunHistory {
  readonly run: RunDetails;
  /** Of all generations, in order of generation and ordinal; escalations after the visit that they stand beside. */
  readonly stageRuns: readonly StageRunRow[];
  readonly attempts: readonly AttemptRow[];
  /** By stage run, in its order; in a stage run: with a place first, in order, then the others as they were made. */
  readonly steps: readonly StepHistoryRow[];
  /** Oldest first. */
  readonly annotations: readonly AnnotationRow[];
  /** Oldest first. */
  readonly lines: readonly LogLineRow[];
}

export interface RunFilter {
  readonly definitionId?: string;
  readonly status?: readonly RunStatus[];
  readonly subject?: SubjectName;
  /** Runs before this id (runs are listed newest first): the last id of the page before. */
  readonly before?: string;
  readonly limit: number;
}

export type ChangeDecision<R> =
  { readonly transition: Transition; readonly answer: R } | { readonly transition: null; readonly answer: R };

/** The run as `changeRun` found it, its row locked. */
export interface LockedRun {
  readonly row: RunRow;
  readonly state: RunState;
  /** Jobs of this run, in any state; those of escalations are not counted: they move nothing until their time. */
  readonly jobCount: number;
  /** Milliseconds since any of its stage runs moved. */
  readonly idleMs: number;
  /** Milliseconds until its deadline by the database's clock (negative = passed), or null. */
  readonly deadlineInMs: number | null;
  /** The key that this change was asked under has made one before. False without a key. */
  readonly repeated: boolean;
}

export interface ChangeOptions<R = unknown> {
  /**
   * SHA-256 of a caller's key: kept with the change that `decide` makes, for as long as the run lives; `repeated` then
   * says so to every later one under it.
   */
  readonly key?: Buffer;
  /** Nobody claims a job of this run from before it is read until the end of the transaction. */
  readonly holdJobs?: boolean;
  /** How often it is tried at most while somebody else holds the run; then the answer is undefined. @default as often as it takes */
  readonly tries?: number;
  /** What is kept of this call, by what was answered: a part of the same transaction, whether the run was changed or not. */
  readonly audit?: (answer: R) => AuditEntry;
}

export interface ChangeResult<R> {
  readonly answer: R;
  readonly changed: boolean;
  readonly finished: FinishedRun | null;
}

export interface RunStore {
  /**
   * Locks a run, reads it anew, asks `decide`, writes the transition: one transaction, or a part of the caller's.
   * Undefined: no such run in this scope, or not to be had in so many `tries`. Waits for the run's lock (operators' calls may wait).
   */
  changeRun<R>(
    runId: string,
    scope: OwnerScope,
    decide: (run: LockedRun) => ChangeDecision<R>,
    transaction?: JoinedTransaction,
    options?: ChangeOptions<R>,
  ): Promise<ChangeResult<R> | undefined>;

  /** A run without its payloads, unlocked; as the caller's transaction sees it, where one is given. */
  findRun(runId: string, scope: OwnerScope, transaction?: JoinedTransaction): Promise<RunRow | undefined>;
  getRun(runId: string, scope: OwnerScope): Promise<RunDetails | undefined>;
  listRuns(filter: RunFilter, scope: OwnerScope): Promise<RunRow[]>;
  countRuns(scope: OwnerScope, definitionId?: string): Promise<Partial<Record<RunStatus, number>>>;
  history(runId: string, scope: OwnerScope): Promise<RunHistory | undefined>;

  /** Marks runs as awaited, so that their end is announced, and reads those that have ended already. */
  awaitRuns(runIds: readonly string[], scope: OwnerScope): Promise<RunDetails[]>;
  /** Reads the ended ones among these. */
  readFinished(runIds: readonly string[], scope: OwnerScope): Promise<RunDetails[]>;
}
