import type { FailureRecord } from '../codec/failure-record.js';
import type { RunStatus, StageRunStatus } from './statuses.js';

/** JSON text as it is stored. Decoded only where somebody looks inside. */
export type JsonText = string;

/** What `decide` sees of a run: read after its row is locked. */
export interface RunState {
  readonly id: string;
  readonly status: RunStatus;
  readonly generation: number;
  readonly priority: number;
  /** The run's own queue (given at start), or null. */
  readonly queue: string | null;
  readonly input: JsonText;
  /** Stage runs of this generation: of a pipeline one a stage, of a graph every visit. */
  readonly stageRuns: readonly StageRunState[];
  /** All stage runs ever made for this run, history included (LIMIT-1): the highest ordinal. */
  readonly stageRunCount: number;
}

export interface StageRunState {
  readonly id: string;
  readonly node: string;
  readonly key: string;
  readonly stage: string;
  readonly visit: number;
  readonly status: StageRunStatus;
  readonly attempt: number;
  /** The how-manieth stage run of its run, from 1. */
  readonly ordinal: number;
  /** How often the stuck-run search has put it back in the queue (STUCK-1). */
  readonly requeues: number;
  readonly output: JsonText | null;
  /** Which way a node of a graph went; null or absent: its usual one. */
  readonly outcome?: string | null;
}

export interface NewStageRun {
  readonly id: string;
  readonly node: string;
  /** History is read in this order: of a pipeline the index of the node in its definition. */
  readonly position: number;
  readonly key: string;
  readonly stage: string;
  readonly visit: number;
  /** The how-manieth stage run of its run, from 1. */
  readonly ordinal: number;
  readonly status: 'PENDING' | 'COMPLETED' | 'SKIPPED' | 'FAILED';
  readonly skipReason: string | null;
  /** For FAILED: what failed before a body could begin (a `when` that threw). */
  readonly failure: RunFailure | null;
  /** For PENDING: the job that executes it. */
  readonly job: NewJob | null;
  /** For COMPLETED: what a node came to that no worker was needed for, and which way it went. */
  readonly output?: JsonText | null;
  readonly outcome?: string | null;
}

export interface NewJob {
  readonly id: string;
  readonly queue: string;
  /** Raises `lease.absoluteTimeout` for this job; null = the module's. */
  readonly capMs: number | null;
  /** Milliseconds from now, or from the run's start if that is later, until it is due. Absent: at once. */
  readonly delayMs?: number;
}

/** A stage run that a manual retry opens again. */
export interface ReopenedStageRun {
  readonly id: string;
  readonly job: NewJob;
}

/** Counter of a node with several stages: how many are not terminal yet. */
export interface NodeVisit {
  readonly node: string;
  readonly visit: number;
  readonly open: number;
}

export interface RunFailure {
  readonly code: string;
  readonly message: string;
  readonly params: Readonly<Record<string, unknown>> | null;
  /** Key of the stage that failed; null when the run failed as a whole. */
  readonly node: string | null;
}

export type RunChange =
  | { readonly to: 'COMPLETED'; readonly output: JsonText }
  | { readonly to: 'FAILED'; readonly failure: RunFailure }
  /** `terminated`: no hook is called for it, also not for bodies that end later, nor for its children (CANCEL-4). */
  | { readonly to: 'CANCELLED'; readonly reason: string | null; readonly terminated: boolean }
  | { readonly to: 'RUNNING' };

/** What follows from one event: rows to write, in the transaction of the event itself. */
export interface Transition {
  readonly run: RunChange | null;
  readonly stageRuns: readonly NewStageRun[];
  /** FAILED or CANCELLED → PENDING with a fresh budget of attempts and losses (RETRY-5). */
  readonly reopened: readonly ReopenedStageRun[];
  /** Open stage runs whose job was lost: PENDING again, `requeues` + 1 (STUCK-1). */
  readonly requeued: readonly ReopenedStageRun[];
  readonly visits: readonly NodeVisit[];
  readonly events: readonly EngineEvent[];
  /**
   * A new generation: these stage runs go over to it, all others stay behind as history (RUN-5). `stageRuns` and `visits`
   * belong to the new one. Absent: the generation stays.
   */
  readonly rerun?: { readonly kept: readonly string[] };
  /** The run goes over to another version of its definition (VER-1), its jobs with it. */
  readonly migrate?: { readonly version: number; readonly definitionKey: string };
  /** Every stage run still open is cancelled, its jobs removed, its waits cancelled; waited-for children are marked. */
  readonly cancelOpen: boolean;
  /** Jobs that call the `cancel(ctx)` hooks of stage runs that were live (CANCEL-3). */
  readonly cancelJobs: readonly CancelJob[];
  /**
   * These stage runs alone are cancelled, with their jobs and waits: branches that nobody waits for any more, visits that an
   * escalation leaves, escalations of visits that have ended. Absent: none.
   */
  readonly cancelled?: readonly string[];
  /** Of those that are cancelled, by which outcome the run went on instead: visits that an escalation leaves. Absent: none. */
  readonly leftBy?: Readonly<Record<string, string>>;
}

export interface CancelJob {
  readonly stageRunId: string;
  readonly job: NewJob;
}

/** A row of the outbox: what the world is told, written with what it tells (EVT-1, EVT-2). */
export interface EngineEvent {
  readonly type: EngineEventType;
  /** Stage run id, key and stage of `stage:*`, `approval:*` and `escalation:*` events. */
  readonly stageRunId?: string;
  readonly node?: string;
  readonly stage?: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

export const ENGINE_EVENT_TYPES = [
  'run:started',
  'run:completed',
  'run:failed',
  'run:cancelled',
  'run:retried',
  'stage:started',
  'stage:completed',
  'stage:suspended',
  'stage:skipped',
  'stage:retrying',
  'stage:failed',
  'definition:published',
  'definition:retired',
  'approval:opened',
  'approval:decided',
  'approval:delegated',
  'approval:reassigned',
  'approval:withdrawn',
  'approval:reminded',
  'approval:resolved',
  'escalation:fired',
  'escalation:notified',
  'escalation:failed',
] as const;
export type EngineEventType = (typeof ENGINE_EVENT_TYPES)[number];

/** How an attempt ended, as the worker that ran it reports it. */
export type StageOutcome =
  /** `outcome`: which way a node of a graph goes on; absent: its usual one. */
  | { readonly kind: 'completed'; readonly output: JsonText; readonly outcome?: string }
  | { readonly kind: 'skipped'; readonly reason: string }
  /** A failure with attempts left: PENDING again, its job delayed. */
  | { readonly kind: 'retry'; readonly failure: FailureRecord; readonly delayMs: number }
  /** Terminal: the run fails with it in the same transaction. */
  | { readonly kind: 'failed'; readonly failure: FailureRecord }
  /** Given back without using up the attempt: shutdown, or a definition this build does not serve. */
  | { readonly kind: 'released'; readonly reason: 'shutdown' | 'version'; readonly delayMs: number };

/** How a reaper ends an attempt whose lease is over (LEASE-3, LEASE-4). */
export type LostOutcome =
  | { readonly kind: 'lost'; readonly failure: FailureRecord; readonly delayMs: number }
  | { readonly kind: 'failed'; readonly failure: FailureRecord };
