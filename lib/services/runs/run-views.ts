import type { RunStatus, StageRunStatus } from '../../engine/state/statuses.js';

/** A run as lists show it: no payloads, no error texts. Instants are of the database's clock. */
export interface RunSummary {
  readonly id: string;
  /** Id of the definition. */
  readonly definition: string;
  readonly version: number;
  readonly status: RunStatus;
  /** Stored id of the owner; null = nobody. */
  readonly owner: string | null;
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
  /** From 1 to 500. @default 50 */
  readonly limit?: number;
  /** `cursor` of the page before. @default the newest runs */
  readonly cursor?: string | null;
}

/** Everything that happened in a run, earlier generations included, in order. */
export interface RunHistoryView {
  readonly run: RunView;
  readonly stages: readonly StageRunView[];
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
  /** Undefined unless COMPLETED. */
  readonly output: unknown;
  /** The last failure, while it stands. */
  readonly error: { readonly code: string; readonly message: string } | null;
  /** Attempts that failed or whose lease was lost, oldest first (FAIL-2). */
  readonly failedAttempts: readonly AttemptView[];
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
