import type { SubjectName } from '../../engine/ports/step-store.js';
import type { TriggerKind, TriggerOutcome } from '../../engine/ports/trigger-store.js';
import type { StageProgress } from '../../engine/state/notes.js';
import type { JsonText } from '../../engine/state/rows.js';
import type { RunStatus, StageRunStatus } from '../../engine/state/statuses.js';

/** A run as it is kept; instants are milliseconds since 1970. */
export interface RunRecord {
  readonly id: string;
  readonly definitionId: string;
  definitionVersion: number;
  definitionKey: string;
  readonly ownerId: string | null;
  readonly subject: SubjectName | null;
  readonly subjectSeen: boolean;
  touches: number;
  readonly actor: JsonText | null;
  readonly trace: string | null;
  readonly priority: number;
  readonly queue: string | null;
  readonly input: JsonText;
  readonly createdAt: number;
  /** Its place in the queue: when it was started, or is to start. Jobs it gets later stand there too. */
  readonly enqueuedAt: number;
  /** When it fails RUN_TIMEOUT, or null. */
  readonly deadlineAt: number | null;
  /** Of a child: the run, stage run and step that started it, and how deep it is nested. */
  readonly parentRunId: string | null;
  readonly parentStageRunId: string | null;
  readonly parentStep: string | null;
  readonly depth: number;
  readonly origin: JsonText | null;
  /** The parent's step waits for its end. */
  readonly parentWaits: boolean;
  /** That end has been delivered, or there was nothing to deliver it to. */
  parentTold: boolean;
  /** Its parent has ended: it is to be cancelled. */
  cancelAsked: boolean;
  generation: number;
  status: RunStatus;
  output: JsonText | null;
  awaited: boolean;
  failureCode: string | null;
  failureMessage: string | null;
  failureParams: JsonText | null;
  failedNode: string | null;
  cancelReason: string | null;
  /** Cancelled without hooks (CANCEL-4). */
  terminated: boolean;
  startedAt: number | null;
  finishedAt: number | null;
}

export interface StageRunRecord {
  readonly id: string;
  readonly runId: string;
  /** A rerun takes those that it keeps over to the next one. */
  generation: number;
  readonly node: string;
  readonly position: number;
  readonly key: string;
  readonly stage: string;
  readonly visit: number;
  readonly ordinal: number;
  readonly createdAt: number;
  status: StageRunStatus;
  attempt: number;
  /** Attempts before this one that a manual retry took out of the budget. */
  budgetFrom: number;
  losses: number;
  deferrals: number;
  /** How often the stuck-run search has queued it again. */
  requeues: number;
  /** How often it was claimed: from the second time on its ledger may hold something. */
  claims: number;
  /** Its next claim goes on with the attempt that was suspended. */
  resumed: boolean;
  /** How often it went on after a wait. */
  resumes: number;
  /** While it is suspended: the queue of its job, and its cap. */
  queue: string | null;
  capMs: number | null;
  progress: StageProgress | null;
  /** Stays after the end: by it a worker whose answer was lost finds that its own write was recorded. */
  claimToken: string | null;
  workerId: string | null;
  output: JsonText | null;
  outcome: string | null;
  skipReason: string | null;
  errorCode: string | null;
  errorMessage: string | null;
  startedAt: number | null;
  finishedAt: number | null;
}

export interface NodeVisitRecord {
  readonly runId: string;
  readonly generation: number;
  readonly node: string;
  readonly visit: number;
  open: number;
}

export interface AttemptRecord {
  readonly id: string;
  readonly runId: string;
  readonly stageRunId: string;
  readonly attempt: number;
  readonly workerId: string | null;
  readonly startedAt: number | null;
  readonly endedAt: number;
  readonly code: string;
  readonly message: string;
  readonly stack: string | null;
  readonly cause: JsonText | null;
}

export interface JobRecord {
  readonly id: string;
  readonly kind: 'execute' | 'cancel';
  readonly runId: string;
  definitionKey: string;
  readonly priority: number;
  stageRunId: string;
  queue: string;
  runAt: number;
  state: 'due' | 'claimed' | 'delayed' | 'sent';
  lockedBy: string | null;
  lockedAt: number | null;
  startedAt: number | null;
  claimToken: string | null;
  attempt: number;
  capMs: number | null;
  /** When it was last given to an external transport. */
  sentAt: number | null;
}

/** Starts of a definition in the newest minute that it was started in. */
export interface StartRateRecord {
  readonly definitionId: string;
  minute: number;
  starts: number;
}

export interface TriggerRecord {
  id: string;
  readonly ownerId: string | null;
  readonly definitionId: string;
  definitionVersion: number;
  readonly triggerId: string;
  type: TriggerKind;
  spec: JsonText;
  fingerprint: string;
  eventKey: string | null;
  status: 'active' | 'retired';
  lastAt: number | null;
  nextAt: number | null;
  lockedUntil: number | null;
  lastRunId: string | null;
  lastOutcome: TriggerOutcome | null;
  lastError: string | null;
  started: number;
  passedOver: number;
  version: number;
}

export interface StartKeyRecord {
  /** Hex of the digest. */
  readonly digest: string;
  runId: string;
  /** Null of an effect key. */
  inputDigest: Buffer | null;
  /** Null: it lives as long as its run. */
  expiresAt: number | null;
  /** Of an effect key: what the effect came to. */
  result: JsonText | null;
}

/** The definition that events are about, where no run stands behind them. */
export interface OutboxSubject {
  readonly ownerId: string | null;
  readonly definitionId: string;
  readonly version: number;
  readonly actor: JsonText | null;
}

export interface OutboxRecord {
  readonly id: number;
  /** Else what all that is told of the same definition has in common. */
  readonly runId: string;
  readonly about: OutboxSubject | null;
  readonly slot: number;
  readonly events: JsonText;
  readonly createdAt: number;
  delivered: number;
  attempts: number;
  dead: boolean;
  nextAt: number | null;
  error: string | null;
}

export interface OutboxSlotRecord {
  readonly slot: number;
  lockedBy: string | null;
  lockedUntil: number;
  /** When a relay with listeners last leased it. */
  heardAt: number | null;
}

export interface DefinitionRecord {
  readonly id: string;
  readonly version: number;
  readonly fingerprint: string;
  readonly structure: JsonText;
}
