import {
  AlreadyDecidedError,
  CommentRequiredError,
  NotAnApproverError,
  RoundClosedError,
  StageUnclearError,
  type WorkflowError,
} from '../../errors/index.js';
import { decisionOf, type ApprovalAnswer, type ApprovalRound, type Decision, type Seat } from './round.js';
import {
  changed,
  changedRound,
  refused,
  REPEATED,
  type RoundAnswer,
  type RoundChange,
  type RoundEnd,
} from './round-change.js';
import { approvalEvent, openedEvent } from './round-events.js';
import { stageStanding } from './round-standing.js';

export interface AskedDecision {
  /** Of the decision; a second one under it is the same (fault I2). */
  readonly id: string;
  readonly by: string;
  readonly answer: ApprovalAnswer;
  readonly reason: string | null;
  readonly comment: string | null;
  /** The stage of approval that is meant; null = the one that is asked now. */
  readonly stage: number | null;
}

/**
 * Somebody decides. The same answer by the same person again changes nothing, also once the round has ended; another one is refused.
 *
 * @param at the instant of the transaction, ISO 8601
 */
export function decideRound(round: ApprovalRound, asked: AskedDecision, at: string): RoundAnswer {
  const before = earlierDecision(round, asked);
  if (before) return answerAgain(round, before, asked);
  if (round.status !== 'open') return refused(closed(round));
  const unclear = whyUnclear(round, asked);
  if (unclear) return refused(unclear);
  const seat = seatHeldBy(round, asked.by);
  if (!seat) return refused(notAnApprover(round, asked.by));
  const standing = decisionOf(round, seat);
  if (standing) return refused(decidedAlready(round, standing));
  if (round.terms.comment === 'required' && (asked.comment ?? '').trim() === '')
    return refused(new CommentRequiredError({ round: round.id }));
  const { id, by, answer, reason, comment } = asked;
  const decision = { id, stage: seat.stage, approver: seat.approver, by, answer, reason, comment };
  return changed(withConsequence(round, { decision, events: [] }, at));
}

/** The seat that somebody decides for, in the stage of approval that is asked. There is one at most. */
export const seatHeldBy = (round: ApprovalRound, person: string): Seat | undefined =>
  round.seats.find(({ stage, holder }) => stage === round.stage && holder === person);

/** Refuses whatever comes after the end. */
export const closed = ({ id, status }: ApprovalRound): RoundClosedError => new RoundClosedError({ round: id, status });

export function notAnApprover(round: ApprovalRound, person: string): NotAnApproverError {
  return new NotAnApproverError({ round: round.id, person, why: whyNotAsked(round, person) });
}

/**
 * The decision under this very id; else what this person decided in the stage that is meant. Who says none, and is not asked now, means
 * what he decided last.
 */
function earlierDecision(round: ApprovalRound, { id, by, stage }: AskedDecision): Decision | undefined {
  const same = round.decisions.find((one) => one.id === id);
  if (same) return same;
  const own = round.decisions.filter((one) => !one.withdrawn && one.by === by);
  const meant = own.find((one) => one.stage === (stage ?? round.stage));
  return meant ?? (stage === null && !seatHeldBy(round, by) ? own.at(-1) : undefined);
}

function answerAgain(round: ApprovalRound, before: Decision, { by, answer }: AskedDecision): RoundAnswer {
  const same = before.by === by && before.answer === answer && !before.withdrawn;
  return same ? REPEATED : refused(decidedAlready(round, before));
}

const decidedAlready = ({ id }: ApprovalRound, { by, answer, withdrawn }: Decision): AlreadyDecidedError =>
  new AlreadyDecidedError({ round: id, person: by, answer, ...(withdrawn && { withdrawn: 'and withdrew it since' }) });

/**
 * Who decided an earlier stage and is asked in this one too has to say which one he means: a second click on the first button
 * must not decide the next stage (fault I2).
 */
function whyUnclear(round: ApprovalRound, { by, stage }: AskedDecision): WorkflowError | undefined {
  if (stage === round.stage) return undefined;
  const params = { round: round.id, asked: round.stage };
  if (stage !== null) return new StageUnclearError({ ...params, given: stage });
  const earlier = round.decisions.find((one) => one.by === by && one.stage < round.stage && !one.withdrawn);
  return earlier && new StageUnclearError({ ...params, decided: earlier.stage });
}

function whyNotAsked(round: ApprovalRound, person: string): string {
  const seats = round.seats.filter(({ stage }) => stage === round.stage);
  const given = seats.find(({ path }) => path.some(({ from }) => from === person));
  if (given) return `what was theirs is decided by "${given.holder}", to whom it was handed`;
  if (person === round.requester && !round.terms.ownRequest) return 'who asks for something does not decide it';
  if (round.seats.some(({ holder }) => holder === person)) return 'they are asked in another stage of it';
  return 'they were not asked';
}

/** What a change leads to: the next stage of approval, or the round's end. */
function withConsequence(round: ApprovalRound, change: RoundChange, at: string): RoundChange {
  const after = changedRound(round, change, at);
  const { result } = stageStanding(after, round.stage);
  const { by, approver, answer, reason } = change.decision!;
  const told = approvalEvent('approval:decided', round, {
    by,
    onBehalfOf: by === approver ? null : approver,
    answer,
    reason,
  });
  if (result === 'open') return { ...change, events: [told] };
  const next = round.stage + 1;
  if (result === 'approved' && next < round.terms.stages.length) {
    return { ...change, stage: next, events: [told, openedEvent({ ...after, stage: next })] };
  }
  const ended = { status: result, by: null, reason: null };
  return { ...change, ended, events: [told, resolvedEvent(round, ended)] };
}

export const resolvedEvent = (round: ApprovalRound, { status, by, reason }: RoundEnd) =>
  approvalEvent('approval:resolved', round, { outcome: status, by, reason });
