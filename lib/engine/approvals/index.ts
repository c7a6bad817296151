export { addApprovers, askedAmong } from './add-approvers.js';
export type { AddedApprovers } from './add-approvers.js';
export { DEFAULT_RULE, isFulfilled, missingFor, weightOf, whyNever } from './approval-rule.js';
export type { ApprovalRule, Missing, Voter } from './approval-rule.js';
export { MAX_APPROVER_ID_LENGTH, MAX_APPROVERS, readApprovers } from './approvers.js';
export type { Approver, ApproverInput } from './approvers.js';
export { decideRound } from './decide-round.js';
export type { AskedDecision } from './decide-round.js';
export { closeRound, expireRound, remindRound } from './end-round.js';
export { delegateSeat, revokeDelegation } from './hand-over.js';
export { prepareRound, seatsAt } from './new-round.js';
export type { PreparedRound, ResolvedStage, RoundRequest } from './new-round.js';
export { decisionOf, isAsked, ROUND_STATUSES, seatsOf } from './round.js';
export type {
  ApprovalAnswer,
  ApprovalRound,
  Decision,
  Handover,
  RoundStatus,
  RoundTerms,
  Seat,
  StageTerms,
} from './round.js';
export { changedRound } from './round-change.js';
export type { RoundAnswer, RoundChange, RoundEnd, SeatChange } from './round-change.js';
export { ROUND_SIGNAL_PREFIX, roundSignal } from './round-signal.js';
export { approvalEvent, openedEvent } from './round-events.js';
export { stageStanding } from './round-standing.js';
export type { Decided, StageStanding } from './round-standing.js';
export { withdrawDecision } from './withdraw-decision.js';
