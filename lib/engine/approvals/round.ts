import type { ApprovalRule } from './approval-rule.js';

/**
 * `open`: somebody is asked. `approved` and `rejected`: decided. `expired`: its time was over before. `cancelled`: its stage run went
 * another way, was cancelled, failed, or is done again in a round of its own.
 */
export const ROUND_STATUSES = ['open', 'approved', 'rejected', 'expired', 'cancelled'] as const;
export type RoundStatus = (typeof ROUND_STATUSES)[number];

export type ApprovalAnswer = 'approved' | 'rejected';

/** What holds for a round from its beginning to its end, whatever becomes of the definition. */
export interface RoundTerms {
  /** Asked one after the other. */
  readonly stages: readonly StageTerms[];
  readonly comment: 'optional' | 'required';
  readonly ownRequest: boolean;
  readonly delegation: boolean;
}

export interface StageTerms {
  readonly name: string | null;
  readonly rule: ApprovalRule;
}

/** One approver of one stage of approval, as resolved when the round was opened. A person has one seat in a stage, with all groups. */
export interface Seat {
  /** Which stage of approval, from 0. */
  readonly stage: number;
  readonly approver: string;
  readonly groups: readonly string[];
  readonly weight: number;
  /** Who decides for it now: the approver, or whom it was handed to. */
  readonly holder: string;
  /** How it came to its holder, oldest first. */
  readonly path: readonly Handover[];
}

export interface Handover {
  readonly from: string;
  readonly to: string;
  readonly reason: string | null;
  /** ISO 8601. */
  readonly at: string;
}

/** What somebody answered for a seat. */
export interface Decision {
  readonly id: string;
  readonly stage: number;
  readonly approver: string;
  /** Who held the seat then. */
  readonly by: string;
  readonly answer: ApprovalAnswer;
  readonly reason: string | null;
  readonly comment: string | null;
  /** ISO 8601. */
  readonly at: string;
  readonly withdrawn: boolean;
}

/** One visit of an approval, as it is now. */
export interface ApprovalRound {
  readonly id: string;
  readonly runId: string;
  readonly stageRunId: string;
  readonly ownerId: string | null;
  /** Key of the node. */
  readonly node: string;
  /** What holds, whatever the row says: no round of a stage run that has ended is open, nor one whose time is over. */
  readonly status: RoundStatus;
  /** The stage of approval that is asked, or was last, from 0. */
  readonly stage: number;
  readonly terms: RoundTerms;
  /** Who asked for what is approved; null = nobody that is known. */
  readonly requester: string | null;
  readonly seats: readonly Seat[];
  /** Oldest first, withdrawn ones included. */
  readonly decisions: readonly Decision[];
  /** ISO 8601, like all instants here. */
  readonly openedAt: string;
  readonly expiresAt: string | null;
  readonly endedAt: string | null;
  /** Who closed it from outside; null = its approvers did, or time. */
  readonly endedBy: string | null;
  readonly endReason: string | null;
  readonly remindedAt: string | null;
}

export const isAsked = (round: ApprovalRound, seat: Seat): boolean =>
  round.status === 'open' && seat.stage === round.stage && decisionOf(round, seat) === undefined;

/** The decision that stands for a seat. */
export const decisionOf = (round: Pick<ApprovalRound, 'decisions'>, seat: Seat): Decision | undefined =>
  round.decisions.find(
    ({ stage, approver, withdrawn }) => !withdrawn && stage === seat.stage && approver === seat.approver,
  );

export const seatsOf = ({ seats }: Pick<ApprovalRound, 'seats'>, stage: number): Seat[] =>
  seats.filter((seat) => seat.stage === stage);
