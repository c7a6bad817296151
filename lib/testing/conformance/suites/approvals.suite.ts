import {
  adding,
  ask,
  closing,
  deciding,
  delegating,
  expiring,
  inbox,
  newRound,
  openRound,
  placeOf,
  read,
  reminding,
  roundWait,
  withdrawing,
} from '../approval-builders.js';
import {
  failed,
  failing,
  group,
  joined,
  linear,
  newId,
  newJob,
  newStageRun,
  newTransition,
  retrying,
} from '../builders.js';
import type { RoundPlace } from '../../../engine/ports/index.js';
import { newSignal, sleep, suspending } from '../step-builders.js';
import { EVERYBODY, type StoreUnderTest } from '../store-under-test.js';
import type { StoreSuite } from '../suite.js';

/** Rounds of approval, from their opening to their end. */
export function describeApprovals({ it, expect }: StoreSuite): void {
  /** A stage that waits for the end of its round, or for its time to be over. */
  async function waiting(on: StoreUnderTest, given: Parameters<typeof openRound>[2] = {}) {
    const job = await on.startAndClaim();
    const round = await openRound(on, job, given);
    await on.suspend(suspending(job, [roundWait(round, { expiresInMs: given.expiresInMs ?? null })]));
    return { job, round };
  }

  it('APPR-1: a round is opened as it was made, and its first stage of approval is asked', async (on) => {
    const job = await on.startAndClaim({ ownerId: 'o1', subject: { type: 'expense', id: '7' } });
    const round = await openRound(on, job, { stages: [['u1', 'u2'], ['u3']], requester: 'u9', expiresInMs: 60_000 });
    expect(round).toMatchObject({
      ...placeOf(job),
      ownerId: 'o1',
      node: 'sign',
      status: 'open',
      stage: 0,
      requester: 'u9',
    });
    expect(round).toMatchObject({ decisions: [], endedAt: null, endedBy: null, endReason: null, remindedAt: null });
    expect(round.seats).toHaveLength(3);
    expect(round.seats[0]).toEqual({
      ...{ stage: 0, approver: 'u1', groups: ['all'], weight: 1.5, holder: 'u1', path: [] },
    });
    expect(Date.parse(round.expiresAt!) - Date.parse(round.openedAt)).toBe(60_000);
    expect(await read(on, round)).toEqual(round);
    expect(await on.store.findRound(placeOf(job))).toEqual(round);
    const [one] = await on.store.listAsks({ holder: 'u1', limit: 10 }, EVERYBODY);
    expect(one).toMatchObject({ roundId: round.id, ownerId: 'o1', definitionId: 'documents', node: 'sign', stage: 0 });
    expect(one).toMatchObject({
      approver: 'u1',
      subject: { type: 'expense', id: '7' },
      comment: 'optional',
      name: null,
    });
    expect(await inbox(on, 'u3')).toEqual([]);
    const told = await on.events(job.run.id);
    expect(told.at(-1)).toMatchObject({ type: 'approval:opened', node: 'sign', data: { approvers: ['u1', 'u2'] } });
  });

  it('APPR-2: a visit has one round, however often it is opened', async (on) => {
    const job = await on.startAndClaim();
    const place = placeOf(job);
    const rounds = await Promise.all(
      [on.store, on.second, on.store, on.second].map((store) => store.openRound(place, newRound(place))),
    );
    expect(new Set(rounds.map((round) => (round === 'ended' ? round : round.id))).size).toBe(1);
    expect((await on.eventTypes(job.run.id)).filter((type) => type === 'approval:opened')).toHaveLength(1);
    const [round] = rounds;
    if (round === undefined || round === 'ended') throw new Error('It was not opened.');
    await ask(on, round, deciding('u1'));
    const again = await openRound(on, job, { approvers: ['u7'] });
    expect(again.seats.map(({ approver }) => approver)).toEqual(['u1', 'u2']);
    expect(again.decisions).toHaveLength(1);
  });

  it('APPR-2: no round is opened for a visit that has ended', async (on) => {
    const job = await on.startAndClaim();
    await on.store.record([linear(job)]);
    expect(await on.store.openRound(placeOf(job), newRound(placeOf(job)))).toBe('ended');
    expect(await on.store.findRound(placeOf(job))).toBeUndefined();
  });

  it('K40: the decision that ends a round wakes its stage in the same transaction', async (on) => {
    const { job, round } = await waiting(on);
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
    const { round } = await waiting(on);
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
    const { round } = await waiting(on, { approvers: ['u1', 'u2', 'u3'], rule: { atLeast: 2 } });
    const clicks = await Promise.all([on.store, on.second].map((store) => ask(on, round, deciding('u1'), { store })));
    expect(clicks.map(({ answer }) => answer).sort()).toEqual(['changed', 'repeated']);
    expect(await read(on, round)).toMatchObject({ status: 'open', decisions: [{ by: 'u1' }] });
  });

  it('I1: of two last approvers at once each counts, and one ends the round', async (on) => {
    const { job, round } = await waiting(on);
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
    const { job, round } = await waiting(on, { rule: 'any' });
    const answers = await Promise.all([
      ask(on, round, deciding('u1')),
      ask(on, round, deciding('u2'), { store: on.second }),
    ]);
    expect(answers.map(({ answer }) => answer).sort()).toEqual(['ROUND_CLOSED', 'changed']);
    await on.claimAgain(job);
    expect(await on.isAnythingDue()).toBe(false);
  });

  it('APPR-1: the next stage of approval is asked when one is done, and nobody of the former any more', async (on) => {
    const { round } = await waiting(on, {
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
    const { round } = await waiting(on);
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
    const { round } = await waiting(on);
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
    const { job, round } = await waiting(on);
    expect(await ask(on, round, closing('approved'))).toEqual({ answer: 'changed', resumed: true });
    expect(await read(on, round)).toMatchObject({ status: 'approved', endedBy: 'boss', endReason: 'urgent' });
    expect(await inbox(on, 'u1')).toEqual([]);
    await on.claimAgain(job);
  });

  it('ESC-1: who is added is asked at once, in the stage of approval that is asked, and decides as the others do', async (on) => {
    const { job, round } = await waiting(on, { stages: [['u1'], ['u3']], rule: { atLeast: 1 } });
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

  it('ESC-1: the round beside an escalation is that of its own visit', async (on) => {
    const beside = (visit: number) => newStageRun({ key: 'sign#1', node: 'sign', visit });
    const signing = (visit: number) => newStageRun({ key: 'sign', visit });
    const stageRuns = [signing(1), beside(1), signing(2), beside(2), newStageRun({ key: 'other' })];
    const run = await on.start({ transition: newTransition({ stageRuns }) });
    const [first, ofFirst, second, ofSecond, other] = stageRuns.map(({ id }) => ({ runId: run.id, stageRunId: id }));
    const open = async (place: RoundPlace) => on.store.openRound(place, newRound(place));
    expect(await on.store.findRoundBeside(ofFirst!)).toBeUndefined();
    const rounds = [await open(first!), await open(second!)];
    await open(other!);
    expect([await on.store.findRoundBeside(ofFirst!), await on.store.findRoundBeside(ofSecond!)]).toEqual(rounds);
    expect(await on.store.findRoundBeside({ ...ofFirst!, runId: newId() })).toBeUndefined();
  });

  it('K44: that approvers were reminded is kept', async (on) => {
    const { round } = await waiting(on);
    expect((await ask(on, round, reminding)).answer).toBe('changed');
    expect((await ask(on, round, reminding)).answer).toBe('REMINDED_TOO_SOON');
    on.travel(60_001);
    expect((await ask(on, round, reminding)).answer).toBe('changed');
  });

  it('D9: what comes after the time of a round loses to it, also before anybody has noticed', async (on) => {
    const { job, round } = await waiting(on, { expiresInMs: 60_000 });
    on.travel(60_001);
    expect((await ask(on, round, deciding('u1'))).answer).toBe('ROUND_CLOSED');
    expect(await inbox(on, 'u1')).toEqual([]);
    expect(await read(on, round)).toMatchObject({ status: 'expired', endedAt: null });
    expect(await on.fire()).toMatchObject({ timeouts: 1 });
    const again = await on.claimAgain(job);
    expect(await ask(on, round, expiring)).toEqual({ answer: 'changed', resumed: false });
    expect(await ask(on, round, expiring)).toEqual({ answer: 'repeated', resumed: false });
    expect((await read(on, round)).endedAt === null).toBe(false);
    expect(await on.suspend(suspending(again, [sleep('nap', 1_000)]))).toMatchObject({ suspended: true });
  });

  it('D9: what comes after its wait is over loses to it, though the clock does not say so', async (on) => {
    const { round } = await waiting(on, { expiresInMs: 60_000 });
    expect(await on.fire(61_000)).toMatchObject({ timeouts: 1 });
    expect((await ask(on, round, deciding('u1'))).answer).toBe('ROUND_CLOSED');
    expect(await read(on, round)).toMatchObject({ status: 'expired' });
    expect(await inbox(on, 'u1')).toEqual([]);
  });

  it('D9: a round that was decided in time is no timeout', async (on) => {
    const { job, round } = await waiting(on, { approvers: ['u1'], expiresInMs: 60_000 });
    await ask(on, round, deciding('u1'));
    on.travel(60_001);
    expect(await on.fire()).toMatchObject({ timeouts: 0 });
    expect((await ask(on, round, expiring)).answer).toBe('repeated');
    expect(await read(on, round)).toMatchObject({ status: 'approved' });
    await on.claimAgain(job);
  });

  it('I3: a round is over with its run, and asks nobody any more', async (on) => {
    const ends: ((on: StoreUnderTest, runId: string) => Promise<void>)[] = [
      (one, runId) => one.cancel(runId),
      (one, runId) => one.change(runId, failing()),
    ];
    for (const end of ends) {
      const { job, round } = await waiting(on);
      await end(on, job.run.id);
      const over = await read(on, round);
      expect(over.status).toBe('cancelled');
      expect(over.endedAt === null).toBe(false);
      expect(await inbox(on, 'u1')).toEqual([]);
      expect((await ask(on, round, deciding('u1'))).answer).toBe('ROUND_CLOSED');
    }
  });

  it('I3: a round is over with its branch; those of the others go on', async (on) => {
    await on.start({ transition: group(['left', 'right']) });
    const [left, right] = (await on.claim()).claimed;
    if (!left || !right) throw new Error('Two branches were due.');
    const [dropped, kept] = [await openRound(on, left), await openRound(on, right)];
    await on.change(left.run.id, newTransition({ cancelled: [left.stageRun.id] }));
    expect(await read(on, dropped)).toMatchObject({ status: 'cancelled' });
    expect(await read(on, kept)).toMatchObject({ status: 'open' });
    expect(await inbox(on, 'u1')).toEqual([kept.id]);
  });

  it('I3: nothing treats a round as open whose stage run has ended by itself', async (on) => {
    const job = await on.startAndClaim({ transition: group(['left', 'right']) });
    const round = await openRound(on, job);
    await on.settle([joined(job)], () => newTransition());
    expect(await read(on, round)).toMatchObject({ status: 'cancelled' });
    expect(await inbox(on, 'u1')).toEqual([]);
    expect((await ask(on, round, deciding('u1'))).answer).toBe('ROUND_CLOSED');
  });

  it('APPR-3: a retry by hand has a round of its own', async (on) => {
    const job = await on.startAndClaim();
    const first = await openRound(on, job);
    await ask(on, first, deciding('u1'));
    await on.settle([joined(job, { outcome: failed() })], () => failing());
    const reopened = [{ id: job.stageRun.id, job: newJob() }];
    await on.change(job.run.id, newTransition({ run: { to: 'RUNNING' }, reopened }));
    expect(await on.store.findRound(placeOf(job))).toBeUndefined();
    expect(await read(on, first)).toMatchObject({ status: 'cancelled' });
    const second = await openRound(on, await on.claimAgain(job));
    expect(second.id === first.id).toBe(false);
    expect(second).toMatchObject({ status: 'open', decisions: [] });
    expect(await inbox(on, 'u1')).toEqual([second.id]);
    expect((await ask(on, first, deciding('u2'))).answer).toBe('ROUND_CLOSED');
  });

  it('APPR-3: a retry by itself goes on with the round that it has', async (on) => {
    const { job, round } = await waiting(on, { approvers: ['u1'] });
    await ask(on, round, deciding('u1'));
    await on.store.record([linear(await on.claimAgain(job), { outcome: retrying() })]);
    await on.promote();
    expect(await on.store.findRound(placeOf(await on.claimAgain(job)))).toMatchObject({
      id: round.id,
      status: 'approved',
    });
  });

  it("OWNER-5: a round is its owner's alone", async (on) => {
    const jobs = [await on.startAndClaim({ ownerId: 'o1' }), await on.startAndClaim({ ownerId: 'o2' })];
    const [own, other] = [await openRound(on, jobs[0]!), await openRound(on, jobs[1]!)];
    const scope = { owner: 'o1' };
    expect(await inbox(on, 'u1', scope)).toEqual([own.id]);
    expect(await on.store.getRound(other.id, scope)).toBeUndefined();
    expect(await ask(on, other, deciding('u1'), { scope })).toEqual({ answer: 'not found', resumed: false });
    expect((await ask(on, own, deciding('u1'), { scope })).answer).toBe('changed');
    expect(
      await on.store.changeRound({ id: own.id, runId: other.runId }, EVERYBODY, () => ({ change: null, answer: 1 })),
    ).toBeUndefined();
    expect(await inbox(on, 'u2')).toEqual([other.id, own.id].sort().reverse());
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

  it('AUDIT-1: what was asked of a round is kept with its change, or as refused', async (on) => {
    const { job, round } = await waiting(on);
    const id = newSignal().id;
    await on.store.changeRound(round, EVERYBODY, () => ({ change: null, answer: 'refused' }), undefined, {
      audit: (answer) => ({
        ...{ id, action: 'decide', ability: null, actor: '"u9"', allowed: true, reason: null, source: 'service' },
        details: JSON.stringify({ answer }),
      }),
    });
    const [kept] = await on.store.listAudit({ runId: job.run.id, limit: 10 }, EVERYBODY);
    expect(kept).toMatchObject({ id, runId: job.run.id, details: '{"answer":"refused"}' });
  });
}
