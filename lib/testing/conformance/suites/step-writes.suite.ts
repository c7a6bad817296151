import { linear, retrying } from '../builders.js';
import { awaiting, begin, failureText, finish, newWait, signalWait, sleep, STEP_LEASE_MS } from '../step-builders.js';
import { rejection } from '../store-under-test.js';
import type { StoreSuite } from '../suite.js';

/** Steps are begun, and end; what is read of them. */
export function describeStepWrites({ it, expect }: StoreSuite): void {
  it('STEP-1: a claim says whether there may be a ledger to be read', async (on) => {
    const job = await on.startAndClaim();
    expect(job.stageRun.hasLedger).toBe(false);
    await on.write(begin(job, 'fetch'));
    await on.store.record([linear(job, { outcome: retrying() })]);
    expect((await on.claimAgain(job)).stageRun.hasLedger).toBe(true);
  });

  it('STEP-1: what a body came to is in the ledger when it is written, and stays', async (on) => {
    const job = await on.startAndClaim({ ownerId: 'acme' });
    expect(await on.write(begin(job, 'fetch'))).toEqual(['written']);
    const running = await on.step(job, 'fetch');
    expect(running).toMatchObject({ kind: 'run', status: 'running', seq: null, attempt: 1, token: job.token });
    expect(running.leaseInMs ?? 0).toBeGreaterThan(STEP_LEASE_MS - 20_000);
    expect(running.leaseInMs ?? 0).toBeLessThanOrEqual(STEP_LEASE_MS);

    const result = '{"text":"\\u0000 ü","nested":[1]}';
    expect(await on.write(finish(job, 'fetch', { outcome: { kind: 'completed', result } }))).toEqual(['written']);
    expect(await on.ledger(job)).toEqual([
      {
        stageRunId: job.stageRun.id,
        key: 'fetch',
        kind: 'run',
        status: 'completed',
        seq: 1,
        attempt: 1,
        result,
        failure: null,
        timedOut: false,
        reopened: false,
        token: job.token,
        leaseInMs: null,
        expiresInMs: null,
        childRunId: null,
        state: null,
      },
    ]);
  });

  it('STEP-1: a step that has an outcome is not begun again, nor ended again', async (on) => {
    const job = await on.startAndClaim();
    await on.write(begin(job, 'fetch'));
    await on.write(finish(job, 'fetch', { outcome: { kind: 'completed', result: '1' } }));
    expect(await on.write(begin(job, 'fetch'))).toEqual(['settled']);
    const again = finish(job, 'fetch', { outcome: { kind: 'completed', result: '2' } });
    expect(await on.write(again)).toEqual(['settled']);
    expect(await on.write(awaiting(job, [newWait('fetch')]))).toEqual(['settled']);
    expect(await on.step(job, 'fetch')).toMatchObject({ status: 'completed', result: '1', attempt: 1 });
  });

  it('LEASE-5, STEP-7: a try that failed, written again since the answer was lost, stands once', async (on) => {
    const job = await on.startAndClaim();
    await on.write(begin(job, 'fetch'));
    const failed = finish(job, 'fetch', { outcome: { kind: 'again', failure: failureText(), delayMs: 60_000 } });
    expect(await on.write(failed)).toEqual(['written']);
    const waiting = await on.step(job, 'fetch');
    expect(await on.write(failed)).toEqual(['written']);
    expect(await on.step(job, 'fetch')).toEqual(waiting);
    on.travel(60_001);
    await on.fire();
    expect(await on.write(failed)).toEqual(['written']);
    expect(await on.step(job, 'fetch')).toMatchObject({ status: 'ready', attempt: 1 });
  });

  it('STEP-1: after a retry of its stage a replay finds the ledger, and is told that there may be one', async (on) => {
    const job = await on.startAndClaim();
    expect(job.stageRun.hasLedger).toBe(false);
    await on.write(begin(job, 'fetch'));
    await on.write(finish(job, 'fetch'));
    await on.store.record([linear(job, { outcome: retrying() })]);
    const again = await on.claimAgain(job);
    expect(again.stageRun).toMatchObject({ hasLedger: true, attempt: 2 });
    expect(await on.step(again, 'fetch')).toMatchObject({ status: 'completed', result: '"done"' });
    expect(await on.write(begin(again, 'fetch'))).toEqual(['settled']);
  });

  it('STEP-1: many attempts are written in one call, each with a verdict of its own', async (on) => {
    const [one, two, three] = [await on.startAndClaim(), await on.startAndClaim(), await on.startAndClaim()];
    await on.cancel(two.run.id);
    await on.write(begin(three, 'a'));
    await on.write(finish(three, 'a'));
    const writes = [begin(one, 'a'), begin(two, 'a'), begin(three, 'a'), begin(three, 'b', { kind: 'once' })];
    expect(await on.write(...writes)).toEqual(['written', 'not-fenced', 'settled', 'written']);
    expect(await on.ledger(two)).toEqual([]);
    expect(await on.write(finish(one, 'a'), finish(three, 'b', { kind: 'once', seq: 2 }))).toEqual([
      'written',
      'written',
    ]);
    const rows = await on.store.readLedger([one.stageRun.id, three.stageRun.id]);
    expect(rows.map(({ stageRunId, key }) => `${stageRunId} ${key}`).sort()).toEqual(
      [`${one.stageRun.id} a`, `${three.stageRun.id} a`, `${three.stageRun.id} b`].sort(),
    );
    expect(await on.store.readLedger([])).toEqual([]);
    expect(await on.write()).toEqual([]);
  });

  it('STEP-2: outcomes are read in the order in which they reached the body, those without a place last', async (on) => {
    const job = await on.startAndClaim();
    await on.write(...['a', 'b', 'c', 'd'].map((key) => begin(job, key)));
    await on.write(finish(job, 'c', { seq: 1 }));
    on.travel(1_000);
    await on.write(finish(job, 'b', { seq: null }));
    on.travel(1_000);
    await on.write(finish(job, 'a', { seq: null }));
    await on.write(finish(job, 'd', { seq: 2 }));
    expect((await on.ledger(job)).map(({ key }) => key)).toEqual(['c', 'd', 'b', 'a']);
    // With the next write of the attempt they get their places.
    await on.write(
      begin(job, 'e', {
        orders: [
          { key: 'a', seq: 3 },
          { key: 'b', seq: 4 },
        ],
      }),
    );
    expect((await on.ledger(job)).map(({ key, seq }) => `${key} ${seq}`)).toEqual([
      'c 1',
      'd 2',
      'a 3',
      'b 4',
      'e null',
    ]);
  });

  it('STEP-2: only the attempt that holds the stage run gives places', async (on) => {
    const job = await on.startAndClaim();
    await on.write(begin(job, 'slow'), begin(job, 'late'));
    await on.write(finish(job, 'late', { seq: null }));
    await on.store.record([linear(job, { outcome: retrying() })]);
    const again = await on.claimAgain(job);
    const orders = [{ key: 'late', seq: 7 }];
    expect(await on.write(finish(job, 'slow', { seq: 8, orders }))).toEqual(['written']);
    expect((await on.ledger(job)).map(({ key, seq }) => `${key} ${seq}`).sort()).toEqual(['late null', 'slow null']);
    await on.write(awaiting(again, [], { orders: [{ key: 'slow', seq: 1 }] }));
    expect(await on.step(job, 'slow')).toMatchObject({ status: 'completed', seq: 1 });
  });

  it('STEP-7: a try that failed waits out its backoff, and its own attempt tries again', async (on) => {
    const job = await on.startAndClaim();
    await on.write(begin(job, 'fetch'));
    const again = { kind: 'again', failure: failureText('first'), delayMs: 60_000 } as const;
    expect(await on.write(finish(job, 'fetch', { outcome: again, seq: null }))).toEqual(['written']);
    expect(await on.step(job, 'fetch')).toMatchObject({
      status: 'waiting',
      attempt: 1,
      failure: again.failure,
      seq: null,
      leaseInMs: null,
    });
    expect(await on.write(begin(job, 'fetch'))).toEqual(['written']);
    expect(await on.step(job, 'fetch')).toMatchObject({ status: 'running', attempt: 2, token: job.token });
    expect((await on.fire(3_600_000)).retries).toBe(0);
    const outcome = { kind: 'failed', failure: failureText('second') } as const;
    await on.write(finish(job, 'fetch', { outcome }));
    expect(await on.step(job, 'fetch')).toMatchObject({ status: 'failed', failure: outcome.failure, seq: 1 });
    expect(await on.write(begin(job, 'fetch'))).toEqual(['settled']);
  });

  it('STEP-7: the retry of a stage opens its failed steps again, with a fresh count of tries', async (on) => {
    const job = await on.startAndClaim();
    await on.write(begin(job, 'fetch'), begin(job, 'kept'), begin(job, 'done'));
    await on.write(finish(job, 'fetch', { outcome: { kind: 'again', failure: failureText(), delayMs: 0 } }));
    await on.write(begin(job, 'fetch'));
    const outcome = { kind: 'failed', failure: failureText() } as const;
    await on.write(finish(job, 'fetch', { outcome }), finish(job, 'kept', { outcome, seq: 2 }));
    await on.write(finish(job, 'done', { seq: 3 }));
    const beside = { cancelWaits: true, reopen: ['fetch', 'done'], freeSteps: false, notes: null };
    await on.store.record([linear(job, { outcome: retrying(), beside })]);
    expect(await on.step(job, 'fetch')).toMatchObject({ status: 'failed', reopened: true, attempt: 2 });
    expect(await on.step(job, 'done')).toMatchObject({ status: 'completed', reopened: false });

    const again = await on.claimAgain(job);
    expect(await on.write(begin(again, 'fetch'), begin(again, 'kept'))).toEqual(['written', 'settled']);
    expect(await on.step(again, 'fetch')).toMatchObject({ status: 'running', reopened: false, attempt: 1, seq: null });
  });

  it('STEP-4: what never began is ended all the same: a poll that found it, a child that could not start', async (on) => {
    const job = await on.startAndClaim();
    const poll = finish(job, 'ready', { kind: 'poll', begun: false });
    const outcome = { kind: 'failed', failure: failureText('no child') } as const;
    const child = finish(job, 'child', { kind: 'child', begun: false, outcome, seq: 2 });
    expect(await on.write(poll, child)).toEqual(['written', 'written']);
    expect(await on.ledger(job)).toMatchObject([
      { key: 'ready', kind: 'poll', status: 'completed', seq: 1, attempt: 1, result: '"done"' },
      { key: 'child', kind: 'child', status: 'failed', seq: 2, attempt: 0, failure: outcome.failure },
    ]);
    expect(await on.write(poll)).toEqual(['settled']);
  });

  it('STEP-4: each poll is counted', async (on) => {
    const job = await on.startAndClaim();
    const poll = newWait('ready', { kind: 'poll', due: { inMs: 60_000 }, dueIfNew: false });
    await on.write(awaiting(job, [poll]));
    await on.write(awaiting(job, [poll]));
    expect(await on.step(job, 'ready')).toMatchObject({ kind: 'poll', status: 'waiting', attempt: 2 });
    await on.write(finish(job, 'ready', { kind: 'poll', begun: false }));
    expect(await on.step(job, 'ready')).toMatchObject({ status: 'completed', attempt: 3 });
  });

  it('STEP-5: waits are opened while something else of the body runs', async (on) => {
    const job = await on.startAndClaim({ ownerId: 'acme' });
    const state = '{"ticket":7}';
    const waits = [
      sleep('nap', 60_000),
      signalWait('approval', { expiresInMs: 120_000 }),
      newWait('job', { kind: 'completion', due: { inMs: 5_000 }, state }),
    ];
    expect(await on.write(begin(job, 'work'), awaiting(job, waits))).toEqual(['written', 'written']);
    expect((await on.stageRun(job.run.id, 'first')).status).toBe('RUNNING');
    expect(await on.step(job, 'nap')).toMatchObject({ kind: 'sleep', status: 'waiting', expiresInMs: null, seq: null });
    expect(await on.step(job, 'job')).toMatchObject({ kind: 'completion', status: 'waiting', state });
    const { expiresInMs } = await on.step(job, 'approval');
    expect(Math.abs((expiresInMs ?? 0) - 120_000)).toBeLessThanOrEqual(20_000);
    expect(await on.isAnythingDue()).toBe(false);
  });

  it('STEP-5: of waits awaited together the ended ones are left alone', async (on) => {
    const job = await on.startAndClaim();
    await on.write(awaiting(job, [sleep('short', 1_000), sleep('long', 60_000)]));
    on.travel(2_000);
    await on.fire();
    const both = awaiting(job, [sleep('short', 1_000), sleep('long', 60_000)]);
    expect(await on.write(both)).toEqual(['written']);
    expect(await on.step(job, 'short')).toMatchObject({ status: 'completed' });
    expect(await on.write(awaiting(job, [sleep('short', 1_000)]))).toEqual(['settled']);
  });

  it('FAULT A1: what cannot be stored fails the call, and writes nothing of it', async (on) => {
    const [good, bad] = [await on.startAndClaim(), await on.startAndClaim()];
    const error = await rejection(on.store.writeSteps([begin(good, 'fine'), begin(bad, 'not\u0000fine')]));
    expect(on.store.isDataError(error)).toBe(true);
    expect(await on.store.readLedger([good.stageRun.id, bad.stageRun.id])).toEqual([]);
  });
}
