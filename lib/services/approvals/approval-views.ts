import {
  decisionOf,
  seatsOf,
  stageStanding,
  type ApprovalRound,
  type ApprovalRule,
  type Missing,
  type RoundStatus,
  type Seat,
} from '../../engine/approvals/index.js';
import type { Ask, SubjectName } from '../../engine/ports/index.js';

/** A round of approval: one visit of an approval node, with its progress. */
export interface ApprovalView {
  readonly id: string;
  readonly runId: string;
  readonly owner: string | null;
  /** Key of the node. */
  readonly node: string;
  readonly status: RoundStatus;
  /** Which stage of approval is asked, or was last, from 0. */
  readonly stage: number;
  readonly stages: readonly ApprovalStageView[];
  /** Who asked for what is approved; null = nobody that is known. */
  readonly requester: string | null;
  readonly comment: 'optional' | 'required';
  readonly openedAt: Date;
  readonly expiresAt: Date | null;
  readonly endedAt: Date | null;
  /** Who closed it from outside, and why; null = its approvers did, or time. */
  readonly endedBy: string | null;
  readonly endReason: string | null;
  readonly remindedAt: Date | null;
}

export interface ApprovalStageView {
  readonly name: string | null;
  readonly rule: ApprovalRule;
  readonly result: 'approved' | 'rejected' | 'open';
  /** What agreement is still missing; null once there is enough. */
  readonly missing: Missing | null;
  readonly approvers: readonly ApproverView[];
}

export interface ApproverView {
  /** As resolved when the round was opened. */
  readonly approver: string;
  readonly groups: readonly string[];
  readonly weight: number;
  /** Who decides for them now; another one where it was handed over. */
  readonly holder: string;
  /** How it came to its holder, oldest first. */
  readonly handedOver: readonly {
    readonly from: string;
    readonly to: string;
    readonly reason: string | null;
    readonly at: Date;
  }[];
  /** What was decided, and stands; null = nothing yet. */
  readonly decision: DecisionView | null;
}

export interface DecisionView {
  readonly id: string;
  readonly by: string;
  readonly answer: 'approved' | 'rejected';
  readonly reason: string | null;
  readonly comment: string | null;
  readonly at: Date;
}

/** Something that the caller is asked. */
export interface ApprovalAskView {
  /** Id of the round: what `decide` takes. */
  readonly round: string;
  readonly runId: string;
  readonly definition: string;
  readonly subject: SubjectName | null;
  readonly owner: string | null;
  readonly node: string;
  /** Which stage of approval, from 0: hand it to `decide`, so that a second click is never taken for the next one. */
  readonly stage: number;
  readonly name: string | null;
  /** For whom it is decided: the caller, or who handed it over. */
  readonly approver: string;
  readonly requester: string | null;
  readonly comment: 'optional' | 'required';
  readonly openedAt: Date;
  readonly expiresAt: Date | null;
}

export function toApprovalView(round: ApprovalRound): ApprovalView {
  const { ownerId, stageRunId: _visit, terms, seats: _seats, decisions: _decisions, ...row } = round;
  return {
    ...row,
    owner: ownerId,
    comment: terms.comment,
    stages: terms.stages.map(({ name, rule }, stage) => {
      const { result, missing } = stageStanding(round, stage);
      return { name, rule, result, missing, approvers: seatsOf(round, stage).map((seat) => approverView(round, seat)) };
    }),
    openedAt: new Date(round.openedAt),
    expiresAt: dateOf(round.expiresAt),
    endedAt: dateOf(round.endedAt),
    remindedAt: dateOf(round.remindedAt),
  };
}

export const toAskView = ({ roundId, ownerId, definitionId, openedAt, expiresAt, ...row }: Ask): ApprovalAskView => ({
  ...row,
  round: roundId,
  owner: ownerId,
  definition: definitionId,
  openedAt: new Date(openedAt),
  expiresAt: dateOf(expiresAt),
});

function approverView(round: ApprovalRound, seat: Seat): ApproverView {
  const { approver, groups, weight, holder, path } = seat;
  const decision = decisionOf(round, seat);
  const handedOver = path.map((one) => ({ ...one, at: new Date(one.at) }));
  return { approver, groups, weight, holder, handedOver, decision: decision ? decisionView(decision) : null };
}

const decisionView = ({ id, by, answer, reason, comment, at }: DecisionOf): DecisionView => ({
  id,
  by,
  answer,
  reason,
  comment,
  at: new Date(at),
});
type DecisionOf = ApprovalRound['decisions'][number];

const dateOf = (text: string | null): Date | null => (text === null ? null : new Date(text));
