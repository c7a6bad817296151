import { ending, leaseOf, linear, parentOf } from '../builders.js';
import { awaiting, begin, childWait, newSignal, signalWait, sleep, suspending } from '../step-builders.js';
import { EVERYBODY, type StoreUnderTest } from '../store-under-test.js';
import type { StoreSuite } from '../suite.js';

/** Answers that are there before the wait for them is written, by a stage that goes on. */
export function describeStandingAnswers({ it, expect }: StoreSuite): void {
  const send = (on: StoreUnderTest, runId: string, payload: string) =>
    on.store.sendSignal(newSignal({ payload }), runId, EVERYBODY);

  it('WAIT-3: a signal that lies there ends the wait for it while the stage runs', async (on) => {
    const job = await on.startAndClaim();
    await send(on, job.run.id, '{"by":"\\u0000"}');
    await on.write(begin(job, 'work'), awaiting(job, [signalWait('approval'), sleep('nap', 60_000)]));
    expect(await on.step(job, 'approval')).toMatchObject({ status: 'waiting' });
    expect(await on.answer(job)).toBe(1);
    expect(await on.step(job, 'approval')).toMatchObject({
      status: 'completed',
      result: '{"by":"\\u0000"}',
      seq: null,
      timedOut: false,
    });
    expect(await on.step(job, 'nap')).toMatchObject({ status: 'waiting' });
    expect((await on.stageRun(job.run.id, 'first')).status).toBe('RUNNING');
    expect(await on.isAnythingDue()).toBe(false);
    expect(await on.answer(job)).toBe(0);
    expect(await on.suspend(suspending(job, [], { keep: ['approval'] }))).toMatchObject({ suspended: false });
  });

  it('WAIT-3: of several signals each ends one wait, the oldest that of the wait awaited last', async (on) => {
    const job = await on.startAndClaim();
    for (const payload of ['1', '2']) await send(on, job.run.id, payload);
    const waits = [signalWait('a', { epoch: 1 }), signalWait('b', { epoch: 3 }), signalWait('c', { epoch: 2 })];
    await on.write(begin(job, 'work'), awaiting(job, waits));
    expect(await on.answer(job)).toBe(2);
    const results = (await on.ledger(job)).map(({ key, result }) => `${key} ${result}`).sort();
    expect(results).toEqual(['a null', 'b 1', 'c 2', 'work null']);
  });

  it('STEP-9: a child that has ended ends the wait for it while the stage runs, and its parent knows', async (on) => {
    const job = await on.startAndClaim();
    const child = await on.startAndClaim({ parent: parentOf(job) });
    await on.store.record([linear(child, { transition: ending('"grown up"') })]);
    await on.write(begin(job, 'work'), awaiting(job, [childWait('child', child.run.id)]));
    expect(await on.answer(job)).toBe(1);
    expect(await on.step(job, 'child')).toMatchObject({ status: 'completed', result: '"grown up"', seq: null });
    expect((await on.probe()).childrenEnded).toBe(false);
    expect((await on.stageRun(job.run.id, 'first')).status).toBe('RUNNING');
    expect(await on.isAnythingDue()).toBe(false);
  });

  it('STEP-9: of a child that lives there is no answer yet', async (on) => {
    const job = await on.startAndClaim();
    const child = await on.startAndClaim({ parent: parentOf(job) });
    await on.write(awaiting(job, [childWait('child', child.run.id), signalWait('approval')]));
    expect(await on.answer(job)).toBe(0);
    expect(await on.step(job, 'child')).toMatchObject({ status: 'waiting' });
  });

  it('WAIT-1: a stage that was suspended meanwhile goes on', async (on) => {
    const job = await on.startAndClaim();
    await on.suspend(suspending(job, [signalWait('approval')]));
    expect(await on.answer(job)).toBe(0);
    expect(await send(on, job.run.id, '1')).toBe('delivered');
    await on.claimAgain(job);
  });

  it('WAIT-2: under a stage that has ended nothing is answered', async (on) => {
    const job = await on.startAndClaim();
    await send(on, job.run.id, '1');
    await on.write(awaiting(job, [signalWait('approval')]));
    await on.store.record([linear(job)]);
    expect(await on.answer(job)).toBe(0);
    expect((await on.step(job, 'approval')).status).not.toBe('completed');
  });

  it('WAIT-3: of a signal and the look for it at once the wait has it once', async (on) => {
    for (let round = 0; round < 8; round++) {
      const job = await on.startAndClaim();
      await on.write(begin(job, 'work'), awaiting(job, [signalWait('approval')]));
      await Promise.all([send(on, job.run.id, '1'), on.second.answerWaits(leaseOf(job))]);
      await on.answer(job);
      expect(await on.step(job, 'approval')).toMatchObject({ status: 'completed', result: '1' });
      expect(await on.suspend(suspending(job, [signalWait('next', { epoch: 1 })]))).toMatchObject({ suspended: true });
    }
  });
}
