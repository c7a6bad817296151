import type { ApprovalRound, PreparedRound, RoundChange } from '../approvals/index.js';
import type { EngineEvent } from '../state/rows.js';
import type { AuditEntry } from './audit-store.js';
import type { JoinedTransaction } from './joined-transaction.js';
import type { OwnerScope } from './scope.js';
import type { SubjectName } from './step-store.js';

/** The visit that a round belongs to. */
export interface RoundPlace {
  readonly runId: string;
  readonly stageRunId: string;
}

export interface NewRound extends PreparedRound {
  /** The same for every try to open this one. */
  readonly id: string;
  /** Null = no limit. */
  readonly expiresInMs: number | null;
  /** Made of the round as it is opened. */
  readonly events: (round: ApprovalRound) => readonly EngineEvent[];
}

/** A round as `changeRound` found it, the row of its run locked. */
export interface LockedRound {
  readonly round: ApprovalRound;
  /** Nobody has ended it: it is open, or over by what became of its stage run or by time. */
  readonly unended: boolean;
  /** The instant of the transaction, ISO 8601. */
  readonly now: string;
}

export interface RoundDecision<R> {
  /** Null: nothing is written but the audit. */
  readonly change: RoundChange | null;
  readonly answer: R;
}

export interface RoundChangeOptions<R> {
  /** What is kept of this call, by what was answered: a part of the same transaction, whether the round was changed or not. */
  readonly audit?: (answer: R) => AuditEntry;
}

export interface ChangedRound<R> {
  readonly answer: R;
  /** The stage that waits for the end of the round goes on: a job became due. */
  readonly resumed: boolean;
}

/** Something that somebody is asked. */
export interface Ask {
  readonly roundId: string;
  readonly runId: string;
  readonly ownerId: string | null;
  readonly definitionId: string;
  readonly subject: SubjectName | null;
  readonly node: string;
  /** Which stage of approval, from 0, and its name. */
  readonly stage: number;
  readonly name: string | null;
  /** For whom it is decided: who holds the seat, or who handed it over. */
  readonly approver: string;
  readonly requester: string | null;
  readonly comment: 'optional' | 'required';
  /** ISO 8601. */
  readonly openedAt: string;
  readonly expiresAt: string | null;
}

export interface AskFilter {
  /** Who is asked: the holder of the seat. */
  readonly holder: string;
  /** Rounds before this one (they are listed newest first): the last of the page before. */
  readonly before?: string;
  readonly limit: number;
}

/**
 * Rounds of approval. The row of the run is locked before anything of a round is written, so that what ends a round and what ends the
 * wait for it, the stage run or the run can't pass each other: one of them is first, and the others see it.
 *
 * A round is open as long as nobody has ended it, its time is not over, its stage run and run are open, and the stage run was not
 * opened anew by hand since: that one has a round of its own (APPR-3). What cancels stage runs closes their rounds in the same
 * transaction; where that was left out, reading says the same.
 */
export interface ApprovalStore {
  /** The round of a visit, in any status; none before it is opened, nor after the stage run was opened anew. */
  findRound(place: RoundPlace): Promise<ApprovalRound | undefined>;

  /** The round of the visit that an escalation stands beside: `place` is that of the escalation. As `findRound`. */
  findRoundBeside(place: RoundPlace): Promise<ApprovalRound | undefined>;

  /**
   * Opens the round of a visit, once: where there is one already, that one comes back, and nothing is written. `'ended'`: the stage
   * run, or its run, has ended.
   *
   * @param make called under the run's lock. `budget`: tells the visit from what it was before it was opened anew by hand
   */
  openRound(place: RoundPlace, make: (budget: number) => NewRound): Promise<ApprovalRound | 'ended'>;

  /**
   * Locks the run of a round, reads the round anew, asks `decide`, writes the change: one transaction, or a part of the caller's.
   * An end that was decided wakes the stage that waits for it, in this very transaction (fault K40). Undefined: no such round in
   * this scope, or not of this run. `decide` may be asked more than once.
   */
  changeRound<R>(
    round: { readonly id: string; readonly runId: string },
    scope: OwnerScope,
    decide: (round: LockedRound) => RoundDecision<R>,
    transaction?: JoinedTransaction,
    options?: RoundChangeOptions<R>,
  ): Promise<ChangedRound<R> | undefined>;

  /** As the caller's transaction sees it, where one is given. */
  getRound(roundId: string, scope: OwnerScope, transaction?: JoinedTransaction): Promise<ApprovalRound | undefined>;

  /** What somebody is asked now, newest first. Only rounds that are open. */
  listAsks(filter: AskFilter, scope: OwnerScope): Promise<Ask[]>;
}
