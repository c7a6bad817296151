import type { SubjectName } from '../../engine/ports/index.js';

/** Names a trigger, and the version that its runs start on. */
export interface TriggerName {
  readonly id: string;
  /** Whose graph it is; null: all owners share it. */
  readonly ownerId: string | null;
  readonly definitionId: string;
  readonly definitionVersion: number;
  readonly triggerId: string;
}

/** A run that a trigger is to start. */
export interface TriggeredStart {
  readonly trigger: TriggerName;
  /** What it is started for: an instant, an event. One run for each, however often it is asked for. */
  readonly cause: { readonly at: string } | { readonly event: string } | { readonly message: string };
  /** Digest of what was given, where the same cause must not come with something else; left out: of the input. */
  readonly given?: Buffer;
  /** Of the graph's own making, as if a caller had given it: one run for each, whatever it was started for. */
  readonly key: string | null;
  readonly ownerId: string | null;
  readonly actor: unknown;
  readonly input: unknown;
  readonly subject: SubjectName | null;
  readonly startAt: Date | null;
  /** The definitions that led to it, its own not among them. */
  readonly chain: readonly string[];
  /** How many triggers led to it, this one included. */
  readonly depth: number;
}

export interface TriggeredRun {
  readonly runId: string;
  /** False: it was there before, for the same. */
  readonly created: boolean;
  /** False: the run that was there was started with something else. */
  readonly sameInput: boolean;
  /** The rate of starts had no room, now or when the run was made: it has FAILED. */
  readonly refused: boolean;
}

/**
 * Starts a run for a trigger. @throws UnknownWorkflowError where this build does not serve the definition, WorkflowError for what will
 * never start, ShuttingDownError where it is for another process to start, what the store throws
 */
export type StartTriggered = (start: TriggeredStart) => Promise<TriggeredRun>;
