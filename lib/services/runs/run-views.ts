import type { StepKind, StepStatus, SubjectName } from '../../engine/ports/index.js';
import type { RunStatus, StageRunStatus } from '../../engine/state/statuses.js';
import type { LogLevel } from '../../interfaces/index.js';

/** A run as lists show it: no payloads, no error texts. Instants are of the database's clock. */
export interface RunSummary {
  readonly id: string;
  /** Id of the definition. */
  readonly definition: string;
  readonly version: number;
  readonly status: RunStatus;
  /** Stored id of the owner; null = nobody. */
  readonly owner: string | null;
  /** What it is about; null = nothing. */
  readonly subject: SubjectName | null;
  readonly priority: number;
  readonly queue: string | null;
  /** 1, and one more with every rerun. */
  readonly generation: number;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  /** Code of the failure of a FAILED run. */
  readonly failureCode: string | null;
  /** Key of the stage it failed on; null when it failed as a whole. */
  readonly failedNode: string | null;
}

/** A run with its payloads. */
export interface RunView extends RunSummary {
  readonly actor: unknown;
  /** As it was given to `start`. */
  readonly input: unknown;
  /** Undefined unless COMPLETED. */
  readonly output: unknown;
  readonly failure: RunFailureView | null;
  /** It is RUNNING, and every stage that is open waits: for a time, an event, a signal, a child. */
  readonly waiting: boolean;
  readonly cancelReason: string | null;
}

export interface RunFailureView {
  readonly code: string;
  /** In the default locale; `formatMessage(code, params, texts)` gives it in another. */
  readonly message: string;
  readonly params: Readonly<Record<string, unknown>> | null;
  readonly node: string | null;
}

export interface RunPage {
  readonly runs: readonly RunSummary[];
  /** Pass it as `cursor` for the next page; null = this was the last. */
  readonly cursor: string | null;
}

export interface ListRunsOptions {
  /** Id of a definition. @default all */
  readonly definition?: string;
  /** One status or several. @default all */
  readonly status?: RunStatus | readonly RunStatus[];
  /** Runs about this subject only. @default all */
  readonly subject?: SubjectName;
  /** From 1 to 500. @default 50 */
  readonly limit?: number;
  /** `cursor` of the page before. @default the newest runs */
  readonly cursor?: string | null;
}

/** Everything that happened in a run, earlier generations included, in order. */
export interface RunHistoryView {
  readonly run: RunView;
  readonly stages: readonly StageRunView[];
  /** Facts that its bodies noted down, oldest first. */
  readonly annotations: readonly AnnotationView[];
}

export interface StageRunView {
  readonly id: string;
  readonly key: string;
  readonly node: string;
  /** The id given to `@Stage`. */
  readonly stage: string;
  readonly generation: number;
  readonly visit: number;
  readonly status: StageRunStatus;
  /** Number of the last attempt; 0 = none has begun. */
  readonly attempt: number;
  /** Leases lost. */
  readonly losses: number;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly skipReason: string | null;
  /** Which way a node of a graph went on; null = its usual one, and always of a pipeline's. */
  readonly outcome: string | null;
  /** Undefined unless COMPLETED. */
  readonly output: unknown;
  /** The last failure, while it stands. */
  readonly error: { readonly code: string; readonly message: string } | null;
  /** Attempts that failed or whose lease was lost, oldest first (FAIL-2). */
  readonly failedAttempts: readonly AttemptView[];
  /** Its durable calls, in the order in which the body got their outcomes, then those that have none yet. */
  readonly steps: readonly StepView[];
  /** Lines of `ctx.log`, oldest first. */
  readonly log: readonly LogLineView[];
  /** What `ctx.progress` said last. */
  readonly progress: ProgressView | null;
  /** What was to happen when this visit of a graph's node took long, by level. */
  readonly escalations: readonly EscalationView[];
}

/** An escalation of a visit. */
export interface EscalationView {
  /** Id of its stage run. */
  readonly id: string;
  /** The how-manieth of its node, from 1. */
  readonly level: number;
  /** `notify`, `reassign`, `start_workflow`, `take_edge`, or the id of a stage. */
  readonly action: string;
  /**
   * PENDING until its time comes, or between tries; COMPLETED when it has fired; SKIPPED when its stage found nothing to do;
   * CANCELLED when the visit ended before; FAILED for itself.
   */
  readonly status: StageRunStatus;
  /** When it is due, or tried again; null = it waits for no time any more. */
  readonly dueAt: Date | null;
  /** When it was last begun; null = it never was. */
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  /** Number of the last attempt; 0 = none has begun. */
  readonly attempt: number;
  /** Of `take_edge`, once it has fired: by which outcome. The visit has the same one if it was left by it. */
  readonly outcome: string | null;
  /** Who was to be told, or given the approval; null = nobody, or not yet. */
  readonly to: readonly string[] | null;
  /** What it came to. Undefined unless COMPLETED. */
  readonly output: unknown;
  /** The last failure, while it stands. */
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly failedAttempts: readonly AttemptView[];
  readonly steps: readonly StepView[];
  readonly log: readonly LogLineView[];
}

/** A durable call of a body: a step, or a wait and what came of it. */
export interface StepView {
  /** As the body calls it. */
  readonly name: string;
  /** What names it in its stage run: scope, name, and the how-manieth of that name. */
  readonly key: string;
  readonly kind: Exclude<StepKind, 'lease'>;
  readonly status: StepStatus;
  /** Tries of its body, or polls. */
  readonly attempt: number;
  /** Undefined unless completed. */
  readonly result: unknown;
  /** The last failure: of the step, or of a try that is followed by another. */
  readonly error: { readonly code: string; readonly message: string } | null;
  /** Its time was over before what it waited for came. */
  readonly timedOut: boolean;
  /** When it is, or was, due by itself; null = only what it waits for ends it. */
  readonly dueAt: Date | null;
  /** Key of the event, or name of the signal, that it waits for. */
  readonly waitsFor: string | null;
  /** Id of the child's run. */
  readonly childRunId: string | null;
  readonly createdAt: Date;
  readonly endedAt: Date | null;
}

export interface LogLineView {
  readonly level: LogLevel;
  readonly message: string;
  /** The attempt that wrote it. */
  readonly attempt: number;
  readonly at: Date;
}

export interface ProgressView {
  readonly done: number;
  /** Null: nobody knows. */
  readonly total: number | null;
  readonly message: string | null;
}

/** A fact that a body noted down with `ctx.annotate`. */
export interface AnnotationView {
  readonly id: string;
  readonly runId: string;
  /** The stage run whose body noted it down. */
  readonly stageRunId: string | null;
  readonly attempt: number | null;
  readonly key: string;
  readonly value: unknown;
  readonly scope: 'run' | 'stage';
  /** On whose behalf. */
  readonly actor: unknown;
  readonly createdAt: Date;
}

export interface AttemptView {
  readonly attempt: number;
  readonly worker: string | null;
  readonly startedAt: Date | null;
  readonly endedAt: Date;
  readonly durationMs: number | null;
  readonly code: string;
  readonly message: string;
  readonly stack: string | null;
  readonly cause: unknown;
}
