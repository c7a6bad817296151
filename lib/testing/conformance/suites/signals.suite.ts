import { linear } from '../builders.js';
import { awaiting, begin, digestOf, eventWait, newSignal, signalWait, sleep, suspending } from '../step-builders.js';
import { EVERYBODY, type StoreUnderTest } from '../store-under-test.js';
import type { StoreSuite } from '../suite.js';

/** Messages to one run. */
export function describeSignals({ it, expect }: StoreSuite): void {
  const send = (on: StoreUnderTest, runId: string, payload: string, name = 'approve') =>
    on.store.sendSignal(newSignal({ payload, key: name }), runId, EVERYBODY);

  it('WAIT-1: a signal ends the wait for its name, and the stage goes on with it', async (on) => {
    const job = await on.startAndClaim();
    await on.suspend(suspending(job, [signalWait('approval'), sleep('deadline', 60_000)]));
    expect(await send(on, job.run.id, '{"by":"\\u0000 ü"}')).toBe('delivered');
    expect(await on.step(job, 'approval')).toMatchObject({
      status: 'completed',
      result: '{"by":"\\u0000 ü"}',
      timedOut: false,
      seq: null,
    });
    const again = await on.claimAgain(job);
    expect(again.stageRun.attempt).toBe(1);
    expect(await send(on, job.run.id, '2')).toBe('stored');
    expect(await on.isAnythingDue()).toBe(false);
  });

  it('WAIT-3: a signal that comes while the stage runs marks its wait', async (on) => {
    const job = await on.startAndClaim();
    await on.write(begin(job, 'work'), awaiting(job, [signalWait('approval')]));
    expect(await send(on, job.run.id, '1')).toBe('delivered');
    expect((await on.stageRun(job.run.id, 'first')).status).toBe('RUNNING');
    expect(await on.isAnythingDue()).toBe(false);
    const record = suspending(job, [], { keep: ['approval'] });
    expect(await on.suspend(record)).toMatchObject({ suspended: false });
  });

  it('WAIT-3: signals that come before the wait are kept, and given oldest first', async (on) => {
    const job = await on.startAndClaim();
    for (const payload of ['1', '2', '3']) expect(await send(on, job.run.id, payload)).toBe('stored');
    let current = job;
    for (const nr of [1, 2, 3]) {
      const orders = nr === 1 ? [] : [{ key: `approval ${nr - 1}`, seq: nr - 1 }];
      const record = suspending(current, [signalWait(`approval ${nr}`, { epoch: nr })], { orders });
      expect(await on.suspend(record)).toMatchObject({ suspended: false });
      current = await on.claimAgain(job);
      expect(await on.step(job, `approval ${nr}`)).toMatchObject({ status: 'completed', result: String(nr) });
    }
    const orders = [{ key: 'approval 3', seq: 3 }];
    const last = suspending(current, [signalWait('approval 4', { epoch: 4 })], { orders });
    expect(await on.suspend(last)).toMatchObject({ suspended: true });
  });

  it('WAIT-3: a signal that lay there goes to a wait before one that comes later', async (on) => {
    const job = await on.startAndClaim();
    await send(on, job.run.id, '1');
    await on.write(begin(job, 'work'), awaiting(job, [signalWait('approval')]));
    await send(on, job.run.id, '2');
    await on.suspend(suspending(job, [], { keep: ['approval'] }));
    expect(await on.step(job, 'approval')).toMatchObject({ status: 'completed', result: '1' });
    const again = await on.claimAgain(job);
    const orders = [{ key: 'approval', seq: 1 }];
    expect(await on.suspend(suspending(again, [signalWait('next', { epoch: 1 })], { orders }))).toMatchObject({
      suspended: false,
    });
    expect(await on.step(job, 'next')).toMatchObject({ result: '2' });
  });

  it('WAIT-3: of two waits for one name the later awaited gets the signal', async (on) => {
    for (const before of [true, false]) {
      const job = await on.startAndClaim();
      const waits = [signalWait('a', { epoch: 1 }), signalWait('z', { epoch: 2 }), signalWait('b')];
      if (before) await send(on, job.run.id, '1');
      await on.suspend(suspending(job, waits));
      if (!before) expect(await send(on, job.run.id, '1')).toBe('delivered');
      const statuses = (await on.ledger(job)).map(({ key, status }) => `${key} ${status}`).sort();
      expect(statuses).toEqual(['a waiting', 'b waiting', 'z completed']);
      await on.claimAgain(job);
    }
  });

  it('WAIT-3: of two waits for one name that were awaited after the same outcomes the first gets it', async (on) => {
    const job = await on.startAndClaim();
    await on.write(begin(job, 'work'), awaiting(job, [signalWait('z')]));
    on.travel(1_000);
    await on.write(awaiting(job, [signalWait('a')]));
    await send(on, job.run.id, '1');
    expect(await on.step(job, 'z')).toMatchObject({ status: 'completed', result: '1' });
    expect(await on.step(job, 'a')).toMatchObject({ status: 'waiting' });
  });

  it('WAIT-3: several that lie there end one wait each, when the stage suspends and when their time is over', async (on) => {
    const job = await on.startAndClaim();
    for (const payload of ['1', '2', '3']) await send(on, job.run.id, payload);
    await on.suspend(suspending(job, [signalWait('a', { epoch: 1 }), signalWait('b'), sleep('nap', 60_000)]));
    const results = async () => (await on.ledger(job)).map(({ key, result }) => `${key} ${result}`).sort();
    expect(await results()).toEqual(['a 1', 'b 2', 'nap null']);
    const again = await on.claimAgain(job);
    const limits = { epoch: 2, expiresInMs: 1_000 };
    await send(on, job.run.id, '4');
    await on.write(begin(again, 'work'), awaiting(again, [signalWait('c', limits), signalWait('d', limits)]));
    on.travel(2_000);
    expect(await on.fire()).toMatchObject({ timeouts: 0 });
    expect(await results()).toEqual(['a 1', 'b 2', 'c 3', 'd 4', 'nap null', 'work null']);
  });

  it('WAIT-3: a signal is for one name of one run', async (on) => {
    const [job, other] = [await on.startAndClaim(), await on.startAndClaim()];
    for (const each of [job, other]) await on.suspend(suspending(each, [signalWait('approval')]));
    expect(await send(on, job.run.id, '1', 'reject')).toBe('stored');
    expect(await send(on, job.run.id, '2')).toBe('delivered');
    expect(await on.step(other, 'approval')).toMatchObject({ status: 'waiting' });
    expect((await on.claimOne()).run.id).toBe(job.run.id);
    expect(await on.isAnythingDue()).toBe(false);
  });

  it('WAIT-3: a message that is sent twice is one signal', async (on) => {
    const job = await on.startAndClaim();
    const messageDigest = digestOf('message 1');
    const first = newSignal({ messageDigest, payload: '1' });
    expect(await on.store.sendSignal(first, job.run.id, EVERYBODY)).toBe('stored');
    expect(await on.store.sendSignal(newSignal({ messageDigest, payload: '2' }), job.run.id, EVERYBODY)).toBe(
      'duplicate',
    );
    await on.suspend(suspending(job, [signalWait('approval')]));
    const again = await on.claimAgain(job);
    expect(await on.step(job, 'approval')).toMatchObject({ result: '1' });
    // After it was taken, too.
    expect(await on.store.sendSignal(newSignal({ messageDigest }), job.run.id, EVERYBODY)).toBe('duplicate');
    const orders = [{ key: 'approval', seq: 1 }];
    const next = suspending(again, [signalWait('next', { epoch: 1 })], { orders });
    expect(await on.suspend(next)).toMatchObject({ suspended: true });
  });

  it('WAIT-3: a signal that is sent again, since its answer was lost, is answered as it was', async (on) => {
    const job = await on.startAndClaim();
    const [early, late] = [newSignal({ payload: '1' }), newSignal({ payload: '2', messageDigest: digestOf('2') })];
    for (let nr = 0; nr < 2; nr++) expect(await on.store.sendSignal(early, job.run.id, EVERYBODY)).toBe('stored');
    await on.suspend(suspending(job, [signalWait('approval')]));
    const again = await on.claimAgain(job);
    const orders = [{ key: 'approval', seq: 1 }];
    await on.suspend(suspending(again, [signalWait('next', { epoch: 1 })], { orders }));
    for (let nr = 0; nr < 2; nr++) expect(await on.store.sendSignal(late, job.run.id, EVERYBODY)).toBe('delivered');
    expect(await on.step(job, 'next')).toMatchObject({ result: '2' });
    await on.cancel(job.run.id);
    expect(await on.store.sendSignal(late, job.run.id, EVERYBODY)).toBe('delivered');
    const repeated = newSignal({ messageDigest: digestOf('2') });
    expect(await on.store.sendSignal(repeated, job.run.id, EVERYBODY)).toBe('duplicate');
  });

  it('WAIT-3: a message that two processes send at once is one signal', async (on) => {
    for (let round = 0; round < 8; round++) {
      const job = await on.startAndClaim();
      const messageDigest = digestOf(`message ${round}`);
      const answers = await Promise.all(
        [on.store, on.second].map((store) => store.sendSignal(newSignal({ messageDigest }), job.run.id, EVERYBODY)),
      );
      expect(answers.sort()).toEqual(['duplicate', 'stored']);
    }
  });

  it('WAIT-3: a signal that comes after the limit of a wait is too late for it, and stays for the next', async (on) => {
    const job = await on.startAndClaim();
    await on.suspend(suspending(job, [signalWait('approval', { expiresInMs: 60_000 })]));
    on.travel(61_000);
    expect(await send(on, job.run.id, '1')).toBe('stored');
    expect(await on.fire()).toMatchObject({ timeouts: 1, resumed: 1 });
    expect(await on.step(job, 'approval')).toMatchObject({ status: 'completed', timedOut: true });
    const again = await on.claimAgain(job);
    const orders = [{ key: 'approval', seq: 1 }];
    const next = suspending(again, [signalWait('next', { epoch: 1 })], { orders });
    expect(await on.suspend(next)).toMatchObject({ suspended: false });
    expect(await on.step(job, 'next')).toMatchObject({ status: 'completed', timedOut: false, result: '1' });
  });

  it('WAIT-2: a wait that nobody awaits any more takes no signal', async (on) => {
    const job = await on.startAndClaim();
    await on.write(awaiting(job, [signalWait('loser')]));
    await on.suspend(suspending(job, [sleep('nap', 60_000)]));
    expect(await send(on, job.run.id, '1')).toBe('stored');
    expect(await on.step(job, 'loser')).toMatchObject({ status: 'cancelled', result: null });
    expect(await on.isAnythingDue()).toBe(false);
  });

  it('TRIG-4: a run of another owner reads as missing', async (on) => {
    const job = await on.startAndClaim({ ownerId: 'acme' });
    await on.suspend(suspending(job, [signalWait('approval')]));
    for (const owner of ['other', null]) {
      expect(await on.store.sendSignal(newSignal({ ownerId: owner }), job.run.id, { owner })).toBe('not-found');
    }
    expect(await on.store.sendSignal(newSignal(), newSignal().id, EVERYBODY)).toBe('not-found');
    expect(await on.step(job, 'approval')).toMatchObject({ status: 'waiting' });
    expect(await on.store.sendSignal(newSignal({ ownerId: 'acme' }), job.run.id, { owner: 'acme' })).toBe('delivered');
  });

  it('CANCEL-1: a run that has ended takes no signal, and keeps none', async (on) => {
    const [done, cancelled] = [await on.startAndClaim(), await on.startAndClaim()];
    await on.store.record([linear(done)]);
    await on.suspend(suspending(cancelled, [signalWait('approval')]));
    await on.cancel(cancelled.run.id);
    for (const job of [done, cancelled]) expect(await send(on, job.run.id, '1')).toBe('ended');
    on.travel(90 * 86_400_000);
    expect(await on.store.pruneEvents(1_000, 10)).toBe(0);
  });

  it('RUN-6: a run that has not begun keeps what is sent to it', async (on) => {
    const run = await on.start({ delayMs: 60_000 });
    expect(await send(on, run.id, '1')).toBe('stored');
    on.travel(61_000);
    await on.promote();
    const job = await on.claimOne();
    expect(await on.suspend(suspending(job, [signalWait('approval')]))).toMatchObject({ suspended: false });
  });

  it('WAIT-1: a signal is no event, though they have one name', async (on) => {
    const [told, listens] = [await on.startAndClaim(), await on.startAndClaim()];
    await on.suspend(suspending(listens, [eventWait('event', { eventKey: 'approve' })]));
    await on.store.sendSignal(newSignal(), told.run.id, EVERYBODY);
    await on.store.sendSignal(newSignal(), listens.run.id, EVERYBODY);
    expect((await on.store.unmatchedEvents(0, null, 10)).events).toEqual([]);
    const [wait] = await on.store.uncheckedWaits([listens.stageRun.id], 10);
    if (wait === undefined) throw new Error('A wait for an event was open.');
    expect(await on.store.findEvents(wait, null, 10)).toEqual({ events: [], next: null });
    expect(await on.step(listens, 'event')).toMatchObject({ status: 'waiting' });
  });
}
