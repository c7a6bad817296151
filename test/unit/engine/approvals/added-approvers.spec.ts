import {
  addApprovers,
  askedAmong,
  delegateSeat,
  readApprovers,
  stageStanding,
  type ApprovalRound,
  type ApproverInput,
} from '../../../../lib/engine/approvals/index.js';
import { after, agreed, AT, codeOf, decide, roundOf } from './rounds.js';

const add = (round: ApprovalRound, ...approvers: readonly ApproverInput[]) =>
  addApprovers(round, { approvers: readApprovers(approvers, 'sign#1'), escalation: 'e1' });

const peopleOf = ({ seats }: ApprovalRound): string[] => seats.map(({ stage, approver }) => `${stage} ${approver}`);

describe('approvers that are added to a round', () => {
  it('ESC-1: come to the stage of approval that is asked, weighed by its rule, and are told of', () => {
    const rule = { weight: 4, weights: { u9: 3 } };
    const round = roundOf([], {
      stages: [{ approvers: ['u1', { id: 'u2', weight: 3 }], rule }, { approvers: ['u3'] }],
    });
    const answer = add(round, 'u9', { id: 'u8', weight: 2, group: 'board' });
    const more = after(round, answer);
    expect(peopleOf(more)).toEqual(['0 u1', '0 u2', '0 u9', '0 u8', '1 u3']);
    expect(more.seats.slice(2, 4)).toMatchObject([{ weight: 3 }, { weight: 2, groups: ['board'] }]);
    expect(answer).toMatchObject({
      change: {
        events: [
          {
            type: 'approval:reassigned',
            stageRunId: 'visit',
            data: { round: 'r1', stage: 0, escalation: 'e1', approvers: ['u9', 'u8'] },
          },
        ],
      },
    });
    expect(agreed(more, 'u9', 'u1')).toMatchObject({ stage: 1, status: 'open' });
  });

  it('I5: who is asked there stays as he is, also who handed over and who was given', () => {
    const round = roundOf(['u1', 'u2'], { rule: 'all' });
    const given = after(round, delegateSeat(round, { by: 'u1', to: 'u7', reason: null }, AT));
    expect(codeOf(add(given, 'u1', 'u2', 'u7'))).toBe('repeated');
    const more = after(given, add(given, 'u2', 'u9'));
    expect(peopleOf(more)).toEqual(['0 u1', '0 u2', '0 u9']);
    expect(askedAmong(more, readApprovers(['u7', 'u9', 'u5'], 'sign#1'))).toEqual(['u7', 'u9']);
  });

  it('APPR-1: who asks for the approval is no approver of it, unless that is allowed', () => {
    const round = roundOf(['u1'], { requester: 'ann' });
    expect(peopleOf(after(round, add(round, 'ann', 'u2')))).toEqual(['0 u1', '0 u2']);
    expect(codeOf(add(round, 'ann'))).toBe('NO_APPROVERS');
    const own = roundOf(['u1'], { requester: 'ann', ownRequest: true });
    expect(codeOf(add(own, 'ann'))).toBe('changed');
  });

  it('I3: under all they have to agree too; nobody is added whose answer could change nothing', () => {
    const all = roundOf(['u1', 'u2'], { rule: 'all' });
    const more = after(agreed(all, 'u1'), add(agreed(all, 'u1'), 'u9'));
    expect(stageStanding(more, 0)).toMatchObject({ result: 'open', missing: { people: 2 } });
    expect(agreed(more, 'u2', 'u9').status).toBe('approved');
    const groups = roundOf([{ id: 'u1', group: 'legal' }], { rule: { perGroup: { legal: 1 } } });
    expect(codeOf(add(groups, 'u9'))).toBe('APPROVAL_CANNOT_PASS');
    expect(codeOf(add(groups, { id: 'u9', group: 'legal' }))).toBe('changed');
  });

  it('APPR-2: a round that is over takes nobody', () => {
    const over = after(roundOf(['u1']), decide(roundOf(['u1']), 'u1', 'rejected'));
    expect(codeOf(add(over, 'u9'))).toBe('ROUND_CLOSED');
  });
});
