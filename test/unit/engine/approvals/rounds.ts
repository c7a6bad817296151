import {
  changedRound,
  decideRound,
  prepareRound,
  readApprovers,
  type ApprovalAnswer,
  type ApprovalRound,
  type ApprovalRule,
  type ApproverInput,
  type RoundAnswer,
} from '../../../../lib/engine/approvals/index.js';

export const AT = '2026-01-05T08:00:00.000Z';

interface RoundOptions {
  readonly rule?: ApprovalRule;
  readonly stages?: readonly { readonly approvers: readonly ApproverInput[]; readonly rule?: ApprovalRule }[];
  readonly requester?: string | null;
  readonly ownRequest?: boolean;
  readonly delegation?: boolean;
  readonly comment?: 'optional' | 'required';
}

/** A round that was opened a moment ago. */
export function roundOf(approvers: readonly ApproverInput[], options: RoundOptions = {}): ApprovalRound {
  const { rule = 'any', stages = [{ approvers, rule }], requester = null } = options;
  const { ownRequest = false, delegation = true, comment = 'optional' } = options;
  const prepared = prepareRound({
    node: 'sign',
    requester,
    terms: { ownRequest, delegation, comment },
    stages: stages.map((stage) => ({
      name: null,
      rule: stage.rule ?? 'any',
      approvers: readApprovers(stage.approvers, 'sign'),
    })),
  });
  return {
    ...prepared,
    id: 'r1',
    runId: 'run',
    stageRunId: 'visit',
    ownerId: null,
    status: 'open',
    stage: 0,
    decisions: [],
    openedAt: AT,
    expiresAt: null,
    endedAt: null,
    endedBy: null,
    endReason: null,
    remindedAt: null,
  };
}

let decisions = 0;

export interface Said {
  readonly id?: string;
  readonly stage?: number;
  readonly comment?: string;
}

export function decide(round: ApprovalRound, by: string, answer: ApprovalAnswer, said: Said = {}): RoundAnswer {
  decisions += 1;
  const { id = `d${decisions}`, stage = null, comment = null } = said;
  return decideRound(round, { id, by, answer, reason: null, comment, stage }, AT);
}

/** The round after an answer that changed it. */
export function after(round: ApprovalRound, answer: RoundAnswer): ApprovalRound {
  if (answer.kind === 'changed') return changedRound(round, answer.change, AT);
  throw new Error(`nothing was changed: ${answer.kind === 'refused' ? answer.error.message : answer.kind}`);
}

/** The round after these have agreed, one after the other. */
export const agreed = (round: ApprovalRound, ...people: readonly string[]): ApprovalRound =>
  people.reduce((one, by) => after(one, decide(one, by, 'approved')), round);

export const codeOf = (answer: RoundAnswer): string => (answer.kind === 'refused' ? answer.error.code : answer.kind);
