import { ask, deciding, inbox, newRound, openRound, placeOf, read, waitingRound } from '../approval-builders.js';
import { failed, failing, joined, linear, newId, newJob, newStageRun, newTransition, retrying } from '../builders.js';
import type { RoundPlace } from '../../../engine/ports/index.js';
import { newSignal } from '../step-builders.js';
import { EVERYBODY } from '../store-under-test.js';
import type { StoreSuite } from '../suite.js';

/** Rounds of approval: whose they are, and which visit they belong to. */
export function describeApprovalRounds({ it, expect }: StoreSuite): void {
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
    const { job, round } = await waitingRound(on, { approvers: ['u1'] });
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

  it('AUDIT-1: what was asked of a round is kept with its change, or as refused', async (on) => {
    const { job, round } = await waitingRound(on);
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
