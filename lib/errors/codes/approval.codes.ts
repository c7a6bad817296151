import type { ErrorCodeEntry } from './error-code-entry.js';

/** Approvals: rounds that can't be opened, and what is refused of those that were. */
export const APPROVAL_CODES = {
  NO_APPROVERS: {
    text: 'Nobody can decide the approval {node}[[, stage {stage}]][[: the only approver is {requester}, who asks for it]]. Name somebody who can, then retry the run.',
    meaning: 'An approval was entered for which no approvers were found.',
    retried: false,
    byHand: true,
  },
  INVALID_APPROVERS: {
    text: 'The approvers of {node} are not valid: {reason}. Give a list of ids, or of objects with id, group and weight.',
    meaning: 'What a resolver or an expression gave is no list of approvers.',
    retried: false,
    byHand: true,
  },
  APPROVAL_NOT_FOUND: {
    text: 'There is no approval round {round} here: the id is wrong, its run was pruned, or it belongs to another owner.',
    meaning: 'No round of this id exists within the owner who asked.',
    retried: false,
    byHand: false,
  },
  APPROVER_UNKNOWN: {
    text: 'It is not known who calls {where}. Set the actor of the request (`WorkflowContext.setActor`), and say in `approvals.actorId` what his id is.',
    meaning: 'A call that only a person can make was made by nobody that is known.',
    retried: false,
    byHand: true,
  },
  ROUND_CLOSED: {
    text: 'Approval round {round} is {status}: it takes nothing any more. Nothing was written.',
    meaning: 'Something was asked of a round that has ended.',
    retried: false,
    byHand: false,
  },
  NOT_AN_APPROVER: {
    text: '"{person}" is not asked in approval round {round}: {why}. Nothing was written.',
    meaning: 'Somebody who is not asked, or not any more, wanted to decide.',
    retried: false,
    byHand: false,
  },
  ALREADY_DECIDED: {
    text: '"{person}" answered "{answer}" in approval round {round} before[[, {withdrawn}]]. The first answer counts: withdraw it, then decide anew.',
    meaning: 'A second, different answer came for what was decided.',
    retried: false,
    byHand: false,
  },
  STAGE_UNCLEAR: {
    text: 'Approval round {round} asks stage {asked} now[[, and not {given}]][[; you decided stage {decided} before]]. Say which stage is meant: pass `stage`.',
    meaning: 'A decision was for another stage of approval than the one that is asked, or did not say for which.',
    retried: false,
    byHand: false,
  },
  COMMENT_REQUIRED: {
    text: 'Approval round {round} wants a comment with each decision. Pass `comment`.',
    meaning: 'A decision came without the comment that the approval asks for.',
    retried: false,
    byHand: true,
  },
  DELEGATION_REFUSED: {
    text: '"{to}" cannot decide approval round {round} in another\'s place: {why}. Nothing was written.',
    meaning: 'What an approver was asked cannot be handed to this person.',
    retried: false,
    byHand: false,
  },
  SEAT_DECIDED: {
    text: 'What was to be handed over in approval round {round} is decided, by "{person}". Who decided may withdraw it first.',
    meaning: 'A decided question was to be handed over, or taken back.',
    retried: false,
    byHand: false,
  },
  NOTHING_TO_WITHDRAW: {
    text: '"{person}" has no decision to withdraw in the stage that approval round {round} asks now.',
    meaning:
      'A decision was to be withdrawn that is not there, is of another person, or led to the next stage already.',
    retried: false,
    byHand: false,
  },
  REMINDED_TOO_SOON: {
    text: 'The approvers of round {round} were reminded a short while ago. It is possible again from {possibleAt}.',
    meaning: 'Reminders of a round are throttled (`approvals.remindEvery`).',
    retried: false,
    byHand: true,
  },
} as const satisfies Record<string, ErrorCodeEntry>;
