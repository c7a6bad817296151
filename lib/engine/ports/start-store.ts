import type { JsonText, Transition } from '../state/rows.js';
import type { JoinedTransaction } from './joined-transaction.js';
import type { SubjectName } from './step-store.js';

export interface NewRun {
  readonly id: string;
  readonly definitionId: string;
  readonly definitionVersion: number;
  /** `id@version#fingerprint`. */
  readonly definitionKey: string;
  readonly ownerId: string | null;
  readonly actor: JsonText | null;
  /** The business entity it is about, or null. */
  readonly subject: SubjectName | null;
  /** It was seen to be the owner's at the start: if it is another's later, then its owner has changed (OWNER-3). */
  readonly subjectSeen: boolean;
  /** Trace context of the caller (W3C traceparent), or null. */
  readonly trace: string | null;
  readonly priority: number;
  /** The run's own queue, or null: each stage's. */
  readonly queue: string | null;
  readonly input: JsonText;
  /** Milliseconds until the first stage may begin; 0 = at once, status RUNNING. */
  readonly delayMs: number;
  /** An absolute start instead of `delayMs` (ISO 8601), or null. What is past on the store's clock is due at once. */
  readonly startAt: string | null;
  /** Milliseconds from its start, delayed or not, until the run fails RUN_TIMEOUT (CANCEL-4), or null. */
  readonly deadlineMs: number | null;
  /** Somebody waits for the result: its end is announced. */
  readonly awaited: boolean;
  readonly idempotency: StartKey | null;
  /** Of a run that a trigger started: which, for what, and through which definitions it came; else left out. */
  readonly origin?: JsonText;
  /** Of a child: who started it, by which step. */
  readonly parent?: ParentStep;
  /**
   * What `decide` says of the start: first stage runs, jobs, events; or an end, when everything is skipped. With a delay or
   * an instant it does not tell `run:started`: the store does so when the run begins, in the same call if it is due.
   */
  readonly transition: Transition;
}

export interface StartKey {
  /** SHA-256 over scope, owner, definition and key. */
  readonly digest: Buffer;
  /** SHA-256 of the canonical input, compared in strict mode (IDEM-3). */
  readonly inputDigest: Buffer;
  /** Null: it lives as long as its run (IDEM-2). */
  readonly ttlMs: number | null;
}

export interface ParentStep {
  readonly runId: string;
  readonly stageRunId: string;
  readonly key: string;
  /** The step waits for the child's end; else the child lives on its own. */
  readonly waits: boolean;
  /** The child's depth, from 1 (LIMIT-2). */
  readonly depth: number;
}

export interface CreatedRun {
  /** This call's run, or the one that an earlier start with the same key made. */
  readonly runId: string;
  readonly created: boolean;
  /** Of a run that was created: milliseconds until it is due, by the store's clock; 0 = due now. */
  readonly dueInMs: number;
  /** With a key: the input digest of the run that holds it. */
  readonly inputDigest: Buffer | null;
}

/** Starts of a definition within a minute of the store's clock (LIMIT-3). */
export interface CountedStarts {
  /** Those just counted included. */
  readonly counted: number;
  /** Milliseconds until the next minute begins. */
  readonly nextInMs: number;
}

/** One start that several may ask about at once: whether there is room for it is found out once. */
export interface StartPlace {
  readonly digest: Buffer;
  readonly ownerId: string | null;
  readonly ttlMs: number;
}

export interface StartStore {
  /**
   * Writes runs with their first stage runs and jobs, all or nothing, in one round trip (RUN-8).
   *
   * A start key that lives already yields the run that holds it and writes nothing for this one; parallel duplicates get
   * one run, and a duplicate never aborts the transaction. Answers stand in the order of `runs`.
   */
  createRuns(runs: readonly NewRun[], transaction?: JoinedTransaction): Promise<CreatedRun[]>;

  /** Which of these start keys are held by living rows, in the order of `digests`. */
  heldKeys(digests: readonly Buffer[], transaction?: JoinedTransaction): Promise<boolean[]>;

  /**
   * Counts starts of a definition within the present minute. Committed by itself, at once: a host's transaction would hold up
   * every start of the definition, and what it rolls back counts as well.
   *
   * With a place the first count stays, for all who ask about it while it lives: nobody is refused what another had room for.
   */
  countStarts(definitionId: string, starts: number, place?: StartPlace): Promise<CountedStarts>;
}
