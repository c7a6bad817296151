import { readApprovers, type ApprovalRule, type ApproverInput } from '../../../../lib/engine/approvals/index.js';
import { WorkflowError } from '../../../../lib/errors/index.js';
import { roundOf } from './rounds.js';

function refusal(work: () => unknown): Pick<WorkflowError, 'code' | 'message'> {
  try {
    work();
  } catch (error) {
    if (WorkflowError.is(error)) return error;
    throw error;
  }
  throw new Error('It was not refused.');
}

const opened = (approvers: readonly ApproverInput[], rule: ApprovalRule) => () => roundOf(approvers, { rule });

describe('rounds before they are opened', () => {
  it.each<[string, readonly ApproverInput[], ApprovalRule, string]>([
    ['two of one', ['u1'], { atLeast: 2 }, '2 must agree, and there are 1'],
    ['more weight than there is', ['u1', { id: 'u2', weight: 2 }], { weight: 4 }, 'all together weigh 3'],
    ['a group without members', [{ id: 'u1', group: 'a' }], { perGroup: { a: 1, b: 1 } }, 'it lacks 1 of b'],
    ['two of a group of one', [{ id: 'u1', group: 'a' }], { perGroup: 2 }, 'it lacks 1 of a'],
    ['somebody in no group', [{ id: 'u1', group: 'a' }, 'u2'], { perGroup: 1 }, '"u2" is in no group'],
  ])('I3: a round that could never pass is refused: %s', (_what, approvers, rule, reason) => {
    expect(refusal(opened(approvers, rule))).toMatchObject({
      code: 'APPROVAL_CANNOT_PASS',
      message: expect.stringContaining(reason) as string,
    });
  });

  it('K45: without approvers there is no round', () => {
    expect(refusal(opened([], 'any')).code).toBe('NO_APPROVERS');
    const stages = [{ approvers: ['u1'] }, { approvers: [] }];
    expect(refusal(() => roundOf([], { stages }))).toMatchObject({
      code: 'NO_APPROVERS',
      message: expect.stringContaining('stage 2') as string,
    });
  });

  it('APPR-1: who asks is no approver of his own request, unless that is allowed', () => {
    expect(roundOf(['u1', 'u2'], { requester: 'u1' }).seats.map(({ approver }) => approver)).toEqual(['u2']);
    expect(roundOf(['u1'], { requester: 'u1', ownRequest: true }).seats).toHaveLength(1);
    expect(refusal(() => roundOf(['u1'], { requester: 'u1' }))).toMatchObject({
      code: 'NO_APPROVERS',
      message: expect.stringContaining('u1, who asks for it') as string,
    });
    const pair = { requester: 'u1', rule: { atLeast: 2 } } as const;
    expect(refusal(() => roundOf(['u1', 'u2'], pair)).code).toBe('APPROVAL_CANNOT_PASS');
  });

  it.each<[string, unknown, string]>([
    ['nothing', undefined, 'it gave nothing'],
    ['one id', 'u1', 'it gave a string'],
    ['an empty id', [''], 'number 1 is no id'],
    ['a blank id', ['u1', ' '], 'number 2 is no id'],
    ['an id with half of a character', ['u\ud800'], 'number 1 is no id'],
    ['a number', ['u1', 7], 'number 2 is a number'],
    ['an object without an id', [{ group: 'a' }], 'has no id'],
    ['a field that it does not know', [{ id: 'u1', role: 'a' }], 'has "role"'],
    ['a weight below zero', [{ id: 'u1', weight: -1 }], 'has a weight'],
    ['one person of two weights', [{ id: 'u1', weight: 1 }, 'u1'], 'with two weights'],
    ['too many', Array.from({ length: 201 }, (_, at) => `u${at}`), 'over 200'],
  ])('I3: nobody who was named is left out silently: %s', (_what, given, reason) => {
    expect(refusal(() => readApprovers(given, 'sign'))).toMatchObject({
      code: 'INVALID_APPROVERS',
      message: expect.stringContaining(reason) as string,
    });
  });

  it('APPR-1: an approver who is named twice has one seat', () => {
    expect(roundOf(['u1', 'u1', 'u2'], { rule: 'all' }).seats).toHaveLength(2);
  });
});
