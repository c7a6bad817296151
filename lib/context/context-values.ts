/** The run that code runs for. */
export interface CurrentRun {
  readonly id: string;
  /** Id of the definition. */
  readonly definition: string;
  readonly version: number;
}

/** The stage run that code runs for. */
export interface CurrentStage {
  /** Id of the stage run. */
  readonly runId: string;
  readonly key: string;
  readonly node: string;
  /** The id given to `@Stage`. */
  readonly stage: string;
  readonly attempt: number;
}

/** What an execution is given as its context; everything else of the surrounding context is left behind. */
export interface ExecutionContext {
  /** The stored id of the owner; null = nobody. */
  readonly ownerId: string | null;
  /** The owner as bodies see it, when it is loaded already; left out: `owners.load` is asked. */
  readonly owner?: unknown;
  /** On whose behalf the run acts: its starter, or the system actor. */
  readonly actor: unknown;
  /** Who started the run, as it is stored: what runs started from inside are started by. @default null */
  readonly startedBy?: unknown;
  /** Null for what is about no run: handlers of events about definitions. */
  readonly run: CurrentRun | null;
  readonly stage?: CurrentStage;
  /** W3C traceparent of whoever started the run, or null. */
  readonly trace: string | null;
}

/** Who calls, and from where. */
export interface Caller {
  readonly actor: unknown;
  /** The run whose stage, hook or handler calls; null outside of those. */
  readonly runId: string | null;
  /** The guarded route within which it is called: `POST /runs/7/cancel`. */
  readonly request: string | null;
}

/** What a start takes along from its caller. */
export interface CapturedContext {
  readonly ownerId: string | null;
  readonly actor: unknown;
  readonly trace: string | null;
}
