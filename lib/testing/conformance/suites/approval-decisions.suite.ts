import {
  adding,
  ask,
  closing,
  deciding,
  delegating,
  inbox,
  openRound,
  read,
  reminding,
  roundWait,
  waitingRound,
  withdrawing,
} from '../approval-builders.js';
import { suspending } from '../step-builders.js';
import { EVERYBODY } from '../store-under-test.js';
import type { StoreSuite } from '../suite.js';

/** What people who are asked do in a round, until it is decided. */
export function describeApprovalDecisions({ it, expect }: StoreSuite): void {
  it('K40: the decision that ends a round wakes its stage in the same transaction', async (on) => {
    const { job, round } = await waitingRound(on);
    expect(await ask(on, round, deciding('u1'))).toEqual({ answer: 'changed', resumed: false });
    expect(await on.isAnythingDue()).toBe(false);
    expect(await inbox(on, 'u1')).toEqual([]);
    expect(await inbox(on, 'u2')).toEqual([round.id]);
    expect(await ask(on, round, deciding('u2'))).toEqual({ answer: 'changed', resumed: true });
    const ended = await read(on, round);
    expect(ended).toMatchObject({ status: 'approved', endedBy: null, endReason: null });
    expect(ended.decisions[1]).toMatchObject({
      by: 'u2',
      approver: 'u2',
      stage: 0,
      answer: 'approved',
      reason: 'so it is',
    });
    expect(await inbox(on, 'u2')).toEqual([]);
    await on.claimAgain(job);
    const types = (await on.eventTypes(job.run.id)).filter((type) => type.startsWith('approval:'));
    expect(types).toEqual(['approval:opened', 'approval:decided', 'approval:decided', 'approval:resolved']);
  });

  it('D2: a decision that comes before the stage sleeps is there when it does', async (on) => {
    const job = await on.startAndClaim();
    const round = await openRound(on, job, { approvers: ['u1'] });
    expect(await ask(on, round, deciding('u1'))).toEqual({ answer: 'changed', resumed: false });
    expect(await on.suspend(suspending(job, [roundWait(round)]))).toMatchObject({ suspended: false });
    await on.claimAgain(job);
  });

  it('APPR-2: what is refused or repeated writes nothing', async (on) => {
    const { round } = await waitingRound(on);
    const rejected = deciding('u1', 'rejected', 'click');
    expect((await ask(on, round, deciding('u9'))).answer).toBe('NOT_AN_APPROVER');
    expect(await ask(on, round, rejected)).toEqual({ answer: 'changed', resumed: true });
    const before = await read(on, round);
    expect((await ask(on, round, rejected)).answer).toBe('repeated');
    expect((await ask(on, round, deciding('u1', 'approved'))).answer).toBe('ALREADY_DECIDED');
    expect((await ask(on, round, deciding('u2'))).answer).toBe('ROUND_CLOSED');
    expect(await read(on, round)).toEqual(before);
    expect(before.status).toBe('rejected');
  });

  it('I2: a double click over two processes counts once', async (on) => {
    const { round } = await waitingRound(on, { approvers: ['u1', 'u2', 'u3'], rule: { atLeast: 2 } });
    const clicks = await Promise.all([on.store, on.second].map((store) => ask(on, round, deciding('u1'), { store })));
    expect(clicks.map(({ answer }) => answer).sort()).toEqual(['changed', 'repeated']);
    expect(await read(on, round)).toMatchObject({ status: 'open', decisions: [{ by: 'u1' }] });
  });

  it('I1: of two last approvers at once each counts, and one ends the round', async (on) => {
    const { job, round } = await waitingRound(on);
    const last = await Promise.all([
      ask(on, round, deciding('u1')),
      ask(on, round, deciding('u2'), { store: on.second }),
    ]);
    expect(last.map(({ answer }) => answer)).toEqual(['changed', 'changed']);
    expect(last.filter(({ resumed }) => resumed)).toHaveLength(1);
    expect(await read(on, round)).toMatchObject({ status: 'approved' });
    await on.claimAgain(job);
    expect(await on.isAnythingDue()).toBe(false);
  });

  it('I1: under any two at once end it once', async (on) => {
    const { job, round } = await waitingRound(on, { rule: 'any' });
    const answers = await Promise.all([
      ask(on, round, deciding('u1')),
      ask(on, round, deciding('u2'), { store: on.second }),
    ]);
    expect(answers.map(({ answer }) => answer).sort()).toEqual(['ROUND_CLOSED', 'changed']);
    await on.claimAgain(job);
    expect(await on.isAnythingDue()).toBe(false);
  });

  it('APPR-1: the next stage of approval is asked when one is done, and nobody of the former any more', async (on) => {
    const { round } = await waitingRound(on, {
      stages: [
        ['u1', 'u2'],
        ['u2', 'u3'],
      ],
      rule: 'any',
    });
    await ask(on, round, deciding('u1'));
    expect(await read(on, round)).toMatchObject({ status: 'open', stage: 1 });
    expect([await inbox(on, 'u1'), await inbox(on, 'u2'), await inbox(on, 'u3')]).toEqual([[], [round.id], [round.id]]);
    expect(await on.store.listAsks({ holder: 'u2', limit: 9 }, EVERYBODY)).toMatchObject([{ stage: 1 }]);
    expect(await ask(on, round, deciding('u3'))).toEqual({ answer: 'changed', resumed: true });
  });

  it('APPR-1: a seat that was handed over is in the inbox of who has it', async (on) => {
    const { round } = await waitingRound(on);
    expect((await ask(on, round, delegating('u1', 'u9'))).answer).toBe('changed');
    expect([await inbox(on, 'u1'), await inbox(on, 'u9')]).toEqual([[], [round.id]]);
    const moved = await read(on, round);
    expect(moved.seats[0]).toMatchObject({
      approver: 'u1',
      holder: 'u9',
      path: [{ from: 'u1', to: 'u9', reason: 'away' }],
    });
    expect(moved.seats[1]).toEqual(round.seats[1]);
    await ask(on, round, deciding('u9'));
    expect((await read(on, round)).decisions).toMatchObject([{ by: 'u9', approver: 'u1' }]);
  });

  it('APPR-1: who withdraws is asked again, and what he said stays to be read', async (on) => {
    const { round } = await waitingRound(on);
    await ask(on, round, deciding('u1', 'approved', 'first'));
    expect((await ask(on, round, withdrawing('u1'))).answer).toBe('changed');
    expect(await inbox(on, 'u1')).toEqual([round.id]);
    await ask(on, round, deciding('u1', 'rejected', 'second'));
    const ended = await read(on, round);
    expect(ended.status).toBe('rejected');
    expect(ended.decisions.map(({ id, withdrawn }) => [id, withdrawn])).toEqual([
      ['first', true],
      ['second', false],
    ]);
  });

  it('APPR-1: a round that is closed from outside wakes its stage', async (on) => {
    const { job, round } = await waitingRound(on);
    expect(await ask(on, round, closing('approved'))).toEqual({ answer: 'changed', resumed: true });
    expect(await read(on, round)).toMatchObject({ status: 'approved', endedBy: 'boss', endReason: 'urgent' });
    expect(await inbox(on, 'u1')).toEqual([]);
    await on.claimAgain(job);
  });

  it('ESC-1: who is added is asked at once, in the stage of approval that is asked, and decides as the others do', async (on) => {
    const { job, round } = await waitingRound(on, { stages: [['u1'], ['u3']], rule: { atLeast: 1 } });
    expect(await ask(on, round, adding('u8', 'u1', 'u9'))).toEqual({ answer: 'changed', resumed: false });
    expect([await inbox(on, 'u1'), await inbox(on, 'u8'), await inbox(on, 'u3')]).toEqual([[round.id], [round.id], []]);
    const more = await read(on, round);
    expect(more.seats.map(({ stage, approver }) => [stage, approver])).toEqual([
      [0, 'u1'],
      [0, 'u8'],
      [0, 'u9'],
      [1, 'u3'],
    ]);
    expect(more.seats[1]).toEqual({ stage: 0, approver: 'u8', groups: ['more'], weight: 2.5, holder: 'u8', path: [] });
    expect((await on.events(job.run.id)).at(-1)).toMatchObject({
      type: 'approval:reassigned',
      data: { round: round.id, stage: 0, approvers: ['u8', 'u9'] },
    });
    expect((await ask(on, round, adding('u9'))).answer).toBe('repeated');
    expect((await ask(on, round, deciding('u9'))).answer).toBe('changed');
    expect([await inbox(on, 'u8'), await inbox(on, 'u3')]).toEqual([[], [round.id]]);
    await ask(on, round, adding('u8'));
    expect(await inbox(on, 'u8')).toEqual([round.id]);
    expect(await ask(on, round, deciding('u8'))).toEqual({ answer: 'changed', resumed: true });
    expect((await ask(on, round, adding('u7'))).answer).toBe('ROUND_CLOSED');
  });

  it('K44: that approvers were reminded is kept', async (on) => {
    const { round } = await waitingRound(on);
    expect((await ask(on, round, reminding)).answer).toBe('changed');
    expect((await ask(on, round, reminding)).answer).toBe('REMINDED_TOO_SOON');
    on.travel(60_001);
    expect((await ask(on, round, reminding)).answer).toBe('changed');
  });

  it('APPR-1: an inbox comes in pages, newest first', async (on) => {
    const rounds: string[] = [];
    for (let nr = 0; nr < 3; nr++) rounds.push((await openRound(on, await on.startAndClaim())).id);
    rounds.sort().reverse();
    const page = async (before?: string) =>
      (await on.store.listAsks({ holder: 'u1', before, limit: 2 }, EVERYBODY)).map(({ roundId }) => roundId);
    expect(await page()).toEqual(rounds.slice(0, 2));
    expect(await page(rounds[1])).toEqual(rounds.slice(2));
  });
}
