import { MAX_APPROVER_ID_LENGTH } from '../../engine/approvals/index.js';
import { cleanText, isPlainText } from '../../engine/codec/index.js';
import {
  ApprovalNotFoundError,
  InvalidOptionsError,
  type OptionProblem,
  UndefinedIdError,
} from '../../errors/index.js';
import type { TransactionManager } from '../../interfaces/index.js';
import { reasonOf } from '../operations/reason-of.js';
import { isUuid } from '../runs/run-id.js';

export interface ApprovalCallOptions {
  /** Why: kept in the audit. Cut after 1,000 characters. */
  readonly reason?: string;
  /** Takes part in this open transaction. @default commits by itself */
  readonly manager?: TransactionManager;
}

export interface DecideOptions extends ApprovalCallOptions {
  /** For people; required where the approval says so. Cut after 10,000 characters. */
  readonly comment?: string;
  /** Which stage of approval is meant, from 0, as the inbox said. @default the one that is asked now */
  readonly stage?: number;
  /** The caller's own id of this decision: the same again, of a client that tries again, is a no-op. @default a new one */
  readonly decisionId?: string;
}

const LONGEST_COMMENT = 10_000;
const LONGEST_DECISION_ID = 200;

/** @throws UndefinedIdError, ApprovalNotFoundError for a text that no round can have as its id */
export function roundIdOf(round: unknown, where: string): string {
  if (round === undefined || round === null || round === '')
    throw new UndefinedIdError({ what: 'round', where, hint: 'the id that the inbox, or approval:opened, gave' });
  if (typeof round !== 'string' || !isUuid(round))
    throw new ApprovalNotFoundError({ round: JSON.stringify(String(round).slice(0, 60)) });
  return round.toLowerCase();
}

/** What of the options of a call is the same for all. @throws InvalidOptionsError */
export function callOptions(options: ApprovalCallOptions, where: string): { reason: string | null } {
  refuse(unknownOptions(options, ['reason', 'manager']), where);
  return { reason: reasonOf(options.reason, where) };
}

/** @throws InvalidOptionsError with everything that is wrong */
export function decideOptions(answer: unknown, options: DecideOptions, where: string) {
  const problems = unknownOptions(options, ['reason', 'manager', 'comment', 'stage', 'decisionId']);
  const { comment, stage, decisionId } = options;
  const need = (holds: boolean, path: string, message: string): void => {
    if (!holds) problems.push({ path, message });
  };
  need(answer === 'approved' || answer === 'rejected', 'answer', "must be 'approved' or 'rejected'");
  need(comment === undefined || typeof comment === 'string', 'comment', 'must be a text');
  need(stage === undefined || (Number.isInteger(stage) && stage >= 0), 'stage', 'must be a whole number from 0 on');
  const isId = decisionId === undefined || isPlainText(decisionId, LONGEST_DECISION_ID);
  need(isId, 'decisionId', `must be a text of 1 to ${LONGEST_DECISION_ID} characters, without U+0000`);
  refuse(problems, where);
  return {
    reason: reasonOf(options.reason, where),
    comment: comment === undefined ? null : cleanText(comment, LONGEST_COMMENT),
    stage: stage ?? null,
    decisionId,
  };
}

/** @throws InvalidOptionsError for what is no id of a person */
export function personOf(id: unknown, path: string, where: string): string {
  if (isPlainText(id, MAX_APPROVER_ID_LENGTH)) return id;
  const message = `must be the id of a person: a text of 1 to ${MAX_APPROVER_ID_LENGTH} characters`;
  throw new InvalidOptionsError({ where, problems: [{ path, message }] });
}

function unknownOptions(options: object, known: readonly string[]): OptionProblem[] {
  return Object.keys(options)
    .filter((name) => !known.includes(name))
    .map((path) => ({ path, message: `is not an option; there are ${known.join(', ')}` }));
}

function refuse(problems: readonly OptionProblem[], where: string): void {
  if (problems.length > 0) throw new InvalidOptionsError({ where, problems });
}
