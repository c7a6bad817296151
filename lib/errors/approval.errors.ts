import { WorkflowError } from './workflow.error.js';

export interface NoApproversParams {
  /** Key of the node. */
  node: string;
  /** The stage of approval, where there are several. */
  stage?: string;
  /** Who asks, and was the only one there. */
  requester?: string;
}

/** Nobody is there who could decide; no round was opened. */
export class NoApproversError extends WorkflowError<NoApproversParams> {
  declare readonly code: 'NO_APPROVERS';

  constructor(params: NoApproversParams) {
    super('NO_APPROVERS', params);
  }
}

export interface ApprovalCannotPassParams {
  node: string;
  /** Without a full stop. */
  reason: string;
}

/** Even if all agreed the rule would not be fulfilled; no round was opened. */
export class ApprovalCannotPassError extends WorkflowError<ApprovalCannotPassParams> {
  declare readonly code: 'APPROVAL_CANNOT_PASS';

  constructor(params: ApprovalCannotPassParams) {
    super('APPROVAL_CANNOT_PASS', params);
  }
}

export interface InvalidApproversParams {
  node: string;
  /** Without a full stop. */
  reason: string;
}

/** What a resolver or an expression gave is no list of approvers. */
export class InvalidApproversError extends WorkflowError<InvalidApproversParams> {
  declare readonly code: 'INVALID_APPROVERS';

  constructor(params: InvalidApproversParams, options?: { cause?: unknown }) {
    super('INVALID_APPROVERS', params, options);
  }
}

export interface UnknownApproversParams {
  /** The name that an expression asks for. */
  approvers: string;
  suggestion?: string;
  known?: readonly string[];
}

/** An approval asks a resolver that this build does not have. */
export class UnknownApproversError extends WorkflowError<UnknownApproversParams> {
  declare readonly code: 'UNKNOWN_APPROVERS';

  constructor(params: UnknownApproversParams) {
    super('UNKNOWN_APPROVERS', params);
  }
}

export interface ApprovalNotFoundParams {
  round: string;
}

/** No such round within the owner who asked; another owner's reads the same. */
export class ApprovalNotFoundError extends WorkflowError<ApprovalNotFoundParams> {
  declare readonly code: 'APPROVAL_NOT_FOUND';

  constructor(params: ApprovalNotFoundParams) {
    super('APPROVAL_NOT_FOUND', params);
  }
}

export interface ApproverUnknownParams {
  /** The call. */
  where: string;
}

/** It is not known who calls, and only a person can do this. */
export class ApproverUnknownError extends WorkflowError<ApproverUnknownParams> {
  declare readonly code: 'APPROVER_UNKNOWN';

  constructor(params: ApproverUnknownParams) {
    super('APPROVER_UNKNOWN', params);
  }
}

export interface RoundClosedParams {
  round: string;
  /** approved, rejected, expired or cancelled. */
  status: string;
}

/** The round has ended; nothing was written. */
export class RoundClosedError extends WorkflowError<RoundClosedParams> {
  declare readonly code: 'ROUND_CLOSED';

  constructor(params: RoundClosedParams) {
    super('ROUND_CLOSED', params);
  }
}

export interface NotAnApproverParams {
  round: string;
  /** Id of who called. */
  person: string;
  /** Without a full stop. */
  why: string;
}

/** Somebody who is not asked, or not any more; nothing was written. */
export class NotAnApproverError extends WorkflowError<NotAnApproverParams> {
  declare readonly code: 'NOT_AN_APPROVER';

  constructor(params: NotAnApproverParams) {
    super('NOT_AN_APPROVER', params);
  }
}

export interface AlreadyDecidedParams {
  round: string;
  /** Who decided. */
  person: string;
  /** approved or rejected. */
  answer: string;
  withdrawn?: 'and withdrew it since';
}

/** There is a decision already, and this one is another; nothing was written. */
export class AlreadyDecidedError extends WorkflowError<AlreadyDecidedParams> {
  declare readonly code: 'ALREADY_DECIDED';

  constructor(params: AlreadyDecidedParams) {
    super('ALREADY_DECIDED', params);
  }
}

export interface StageUnclearParams {
  round: string;
  /** The stage of approval that is asked, from 0. */
  asked: number;
  /** The one that was named. */
  given?: number;
  /** The one that the caller decided before. */
  decided?: number;
}

/** Another stage of approval is asked than the one that is meant, or both may be meant; nothing was written. */
export class StageUnclearError extends WorkflowError<StageUnclearParams> {
  declare readonly code: 'STAGE_UNCLEAR';

  constructor(params: StageUnclearParams) {
    super('STAGE_UNCLEAR', params);
  }
}

export interface CommentRequiredParams {
  round: string;
}

/** The approval asks for a comment with each decision; nothing was written. */
export class CommentRequiredError extends WorkflowError<CommentRequiredParams> {
  declare readonly code: 'COMMENT_REQUIRED';

  constructor(params: CommentRequiredParams) {
    super('COMMENT_REQUIRED', params);
  }
}

export interface DelegationRefusedParams {
  round: string;
  /** To whom. */
  to: string;
  /** Without a full stop. */
  why: string;
}

/** This person can't decide in another's place; nothing was written. */
export class DelegationRefusedError extends WorkflowError<DelegationRefusedParams> {
  declare readonly code: 'DELEGATION_REFUSED';

  constructor(params: DelegationRefusedParams) {
    super('DELEGATION_REFUSED', params);
  }
}

export interface SeatDecidedParams {
  round: string;
  /** Who decided. */
  person: string;
}

/** What was to be handed over, or taken back, is decided; nothing was written. */
export class SeatDecidedError extends WorkflowError<SeatDecidedParams> {
  declare readonly code: 'SEAT_DECIDED';

  constructor(params: SeatDecidedParams) {
    super('SEAT_DECIDED', params);
  }
}

export interface NothingToWithdrawParams {
  round: string;
  person: string;
}

/** The caller has no decision in the stage of approval that is asked; nothing was written. */
export class NothingToWithdrawError extends WorkflowError<NothingToWithdrawParams> {
  declare readonly code: 'NOTHING_TO_WITHDRAW';

  constructor(params: NothingToWithdrawParams) {
    super('NOTHING_TO_WITHDRAW', params);
  }
}

export interface RemindedTooSoonParams {
  round: string;
  /** When it is possible again, ISO 8601. */
  possibleAt: string;
}

/** They were reminded a short while ago; nobody was told anything. An HTTP API answers 429. */
export class RemindedTooSoonError extends WorkflowError<RemindedTooSoonParams> {
  declare readonly code: 'REMINDED_TOO_SOON';

  constructor({ round, possibleAt }: { readonly round: string; readonly possibleAt: number | string }) {
    super('REMINDED_TOO_SOON', { round, possibleAt: new Date(possibleAt).toISOString() });
  }
}
