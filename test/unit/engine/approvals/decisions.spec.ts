import {
  closeRound,
  delegateSeat,
  expireRound,
  remindRound,
  revokeDelegation,
  withdrawDecision,
  type ApprovalRound,
  type RoundAnswer,
} from '../../../../lib/engine/approvals/index.js';
import { after, agreed, AT, codeOf, decide, roundOf } from './rounds.js';

const delegate = (round: ApprovalRound, by: string, to: string): RoundAnswer =>
  delegateSeat(round, { by, to, reason: null }, AT);
const withdraw = (round: ApprovalRound, by: string): RoundAnswer => withdrawDecision(round, { by, reason: null });
const revoke = (round: ApprovalRound, by: string): RoundAnswer => revokeDelegation(round, { by, reason: null });
const typesOf = (answer: RoundAnswer): string[] =>
  answer.kind === 'changed' ? answer.change.events.map(({ type }) => type) : [];

describe('decisions', () => {
  it('I2: the same answer again is a repetition, another one is refused, and neither counts', () => {
    const round = agreed(roundOf(['u1', 'u2'], { rule: { atLeast: 2 } }), 'u1');
    expect(codeOf(decide(round, 'u1', 'approved'))).toBe('repeated');
    expect(codeOf(decide(round, 'u1', 'rejected'))).toBe('ALREADY_DECIDED');
    const ended = agreed(round, 'u2');
    expect(codeOf(decide(ended, 'u2', 'approved'))).toBe('repeated');
    expect(codeOf(decide(ended, 'u2', 'rejected'))).toBe('ALREADY_DECIDED');
  });

  it('I2: a second click does not decide the next stage of approval', () => {
    const round = roundOf([], { stages: [{ approvers: ['u1', 'u2'] }, { approvers: ['u1'] }] });
    const second = agreed(round, 'u1');
    expect(codeOf(decide(second, 'u1', 'approved'))).toBe('STAGE_UNCLEAR');
    expect(codeOf(decide(second, 'u1', 'approved', { stage: 0 }))).toBe('repeated');
    expect(after(second, decide(second, 'u1', 'approved', { stage: 1 })).status).toBe('approved');
    expect(codeOf(decide(second, 'u2', 'approved', { stage: 0 }))).toBe('STAGE_UNCLEAR');
    const other = agreed(roundOf([], { stages: [{ approvers: ['u1'] }, { approvers: ['u2'] }] }), 'u1');
    expect(codeOf(decide(other, 'u1', 'approved'))).toBe('repeated');
  });

  it('I2: a decision under an id that was used is that one, also after it was withdrawn', () => {
    const round = after(
      roundOf(['u1', 'u2'], { rule: 'all' }),
      decide(roundOf(['u1', 'u2'], { rule: 'all' }), 'u1', 'approved', { id: 'click' }),
    );
    expect(codeOf(decide(round, 'u1', 'approved', { id: 'click' }))).toBe('repeated');
    const withdrawn = after(round, withdraw(round, 'u1'));
    expect(codeOf(decide(withdrawn, 'u1', 'approved', { id: 'click' }))).toBe('ALREADY_DECIDED');
    expect(codeOf(decide(withdrawn, 'u1', 'approved'))).toBe('changed');
  });

  it.each(['approved', 'rejected', 'expired', 'cancelled'] as const)(
    'I3: a round that is %s takes nothing any more',
    (status) => {
      const round = { ...roundOf(['u1', 'u2'], { rule: 'all' }), status };
      const late = [
        decide(round, 'u1', 'approved'),
        withdraw(round, 'u1'),
        delegate(round, 'u1', 'u9'),
        revoke(round, 'u1'),
        closeRound(round, { by: 'boss', outcome: 'approved', reason: null }),
        remindRound(round, { by: null, everyMs: 0 }, AT),
      ];
      expect(late.map(codeOf)).toEqual(Array.from({ length: 6 }, () => 'ROUND_CLOSED'));
    },
  );

  it('I3: nobody decides who was not asked, and who asks for it does not either', () => {
    const round = roundOf(['u1', 'u2'], { requester: 'u2' });
    expect(codeOf(decide(round, 'u9', 'approved'))).toBe('NOT_AN_APPROVER');
    expect(decide(round, 'u2', 'approved')).toMatchObject({
      error: { code: 'NOT_AN_APPROVER', params: { why: 'who asks for something does not decide it' } },
    });
  });

  it('APPR-1: a comment that is asked for has to be there', () => {
    const round = roundOf(['u1'], { comment: 'required' });
    expect(codeOf(decide(round, 'u1', 'rejected'))).toBe('COMMENT_REQUIRED');
    expect(codeOf(decide(round, 'u1', 'rejected', { comment: '  ' }))).toBe('COMMENT_REQUIRED');
    expect(after(round, decide(round, 'u1', 'rejected', { comment: 'too dear' })).status).toBe('rejected');
  });

  it('APPR-1: a decision can be withdrawn while its stage is asked, and no longer', () => {
    const round = agreed(roundOf(['u1', 'u2'], { rule: 'all' }), 'u1');
    const open = after(round, withdraw(round, 'u1'));
    expect(codeOf(withdraw(open, 'u1'))).toBe('repeated');
    expect(agreed(open, 'u2').status).toBe('open');
    expect(after(open, decide(open, 'u1', 'rejected')).status).toBe('rejected');
    const staged = agreed(roundOf([], { stages: [{ approvers: ['u1'] }, { approvers: ['u1', 'u2'] }] }), 'u1');
    expect(codeOf(withdraw(staged, 'u1'))).toBe('NOTHING_TO_WITHDRAW');
    expect(codeOf(withdraw(round, 'u2'))).toBe('NOTHING_TO_WITHDRAW');
  });

  it('APPR-1: what is told follows what happens', () => {
    const round = roundOf([], { stages: [{ approvers: ['u1'] }, { approvers: ['u2'] }] });
    const first = decide(round, 'u1', 'approved');
    expect(typesOf(first)).toEqual(['approval:decided', 'approval:opened']);
    expect(typesOf(decide(after(round, first), 'u2', 'rejected'))).toEqual(['approval:decided', 'approval:resolved']);
  });
});

describe('delegation', () => {
  it('APPR-1: a delegate decides in the place of the approver, who can not any more', () => {
    const round = roundOf(['u1', 'u2'], { rule: { weight: 3, weights: { u1: 3 } } });
    const given = after(round, delegate(round, 'u1', 'u9'));
    expect(codeOf(decide(given, 'u1', 'approved'))).toBe('NOT_AN_APPROVER');
    expect(codeOf(delegate(given, 'u1', 'u9'))).toBe('repeated');
    const decided = decide(given, 'u9', 'approved');
    expect(decided).toMatchObject({ change: { decision: { by: 'u9', approver: 'u1' } } });
    expect(after(given, decided).status).toBe('approved');
  });

  it('APPR-1: a delegate may hand on; whoever handed over may take it back from whoever has it', () => {
    const round = roundOf(['u1', 'u2'], { rule: 'all' });
    const once = after(round, delegate(round, 'u1', 'u8'));
    const twice = after(once, delegate(once, 'u8', 'u9'));
    expect(codeOf(decide(twice, 'u8', 'approved'))).toBe('NOT_AN_APPROVER');
    expect(after(twice, revoke(twice, 'u8')).seats[0]).toMatchObject({ holder: 'u8', path: [{ to: 'u8' }] });
    const back = after(twice, revoke(twice, 'u1'));
    expect(back.seats[0]).toMatchObject({ holder: 'u1', path: [] });
    expect(codeOf(decide(back, 'u9', 'approved'))).toBe('NOT_AN_APPROVER');
    expect(codeOf(revoke(back, 'u1'))).toBe('repeated');
    expect(codeOf(revoke(back, 'u9'))).toBe('NOT_AN_APPROVER');
  });

  it('I3: what a delegate decided is not taken back by revoking, and a revoked delegate withdraws nothing', () => {
    const round = roundOf(['u1', 'u2'], { rule: 'all' });
    const given = after(round, delegate(round, 'u1', 'u9'));
    const decided = agreed(given, 'u9');
    expect(codeOf(revoke(decided, 'u1'))).toBe('SEAT_DECIDED');
    expect(codeOf(delegate(decided, 'u9', 'u8'))).toBe('SEAT_DECIDED');
    const open = after(decided, withdraw(decided, 'u9'));
    const revoked = after(open, revoke(open, 'u1'));
    expect(codeOf(withdraw(revoked, 'u9'))).toBe('NOTHING_TO_WITHDRAW');
    expect(codeOf(decide(revoked, 'u9', 'approved'))).toBe('NOT_AN_APPROVER');
  });

  it('APPR-1: two people who must agree stay two', () => {
    const round = roundOf(['u1', 'u2', 'u3'], { rule: { atLeast: 2 }, requester: 'boss' });
    expect(codeOf(delegate(round, 'u1', 'u2'))).toBe('DELEGATION_REFUSED');
    expect(codeOf(delegate(round, 'u1', 'boss'))).toBe('DELEGATION_REFUSED');
    expect(codeOf(delegate(round, 'u1', 'u1'))).toBe('DELEGATION_REFUSED');
    const given = after(round, delegate(round, 'u1', 'u9'));
    expect(codeOf(delegate(given, 'u2', 'u9'))).toBe('DELEGATION_REFUSED');
    expect(codeOf(delegate(given, 'u2', 'u1'))).toBe('DELEGATION_REFUSED');
    const closed = roundOf(['u1'], { delegation: false });
    expect(codeOf(delegate(closed, 'u1', 'u9'))).toBe('DELEGATION_REFUSED');
  });
});

describe('ends from outside', () => {
  it('APPR-1: a round is closed from outside whatever its rule says; again by the same is a repetition', () => {
    const round = roundOf(['u1', 'u2'], { rule: 'all' });
    const asked = { by: 'boss', outcome: 'approved', reason: 'urgent' } as const;
    const closed = after(round, closeRound(round, asked));
    expect(closed).toMatchObject({ status: 'approved', endedBy: 'boss', endReason: 'urgent', endedAt: AT });
    expect(codeOf(closeRound(closed, asked))).toBe('repeated');
    expect(codeOf(closeRound(closed, { ...asked, outcome: 'rejected' }))).toBe('ROUND_CLOSED');
  });

  it('APPR-1: time ends a round that is over, once, and no other', () => {
    const round = roundOf(['u1']);
    expect(codeOf(expireRound(round, true))).toBe('repeated');
    const over = { ...round, status: 'expired' } as const;
    expect(typesOf(expireRound(over, true))).toEqual(['approval:resolved']);
    expect(codeOf(expireRound(over, false))).toBe('repeated');
  });

  it('K44: reminders are throttled, and say when one is possible again', () => {
    const round = agreed(roundOf(['u1', 'u2'], { rule: 'all' }), 'u1');
    const ask = (one: ApprovalRound, at: string) => remindRound(one, { by: null, everyMs: 3_600_000 }, at);
    const first = ask(round, AT);
    expect(first).toMatchObject({ change: { events: [{ data: { approvers: ['u2'] } }] } });
    const reminded = after(round, first);
    expect(ask(reminded, '2026-01-05T08:59:59.999Z')).toMatchObject({
      error: { code: 'REMINDED_TOO_SOON', params: { possibleAt: '2026-01-05T09:00:00.000Z' } },
    });
    expect(codeOf(ask(reminded, '2026-01-05T09:00:00.000Z'))).toBe('changed');
  });
});
