import { cancelling, linear, lostRecord, newTransition, released } from '../builders.js';
import { awaiting, begin, failureText, finish, sleep, STEP_LEASE_MS } from '../step-builders.js';
import { LIMITS } from '../store-under-test.js';
import type { StoreSuite } from '../suite.js';

/** Who may begin a step, and who may still write what it came to. */
export function describeStepLeases({ it, expect }: StoreSuite): void {
  it('STEP-6: nothing is begun once the attempt is over', async (on) => {
    const lost = await on.startAndClaim();
    await on.store.reap([lostRecord(await on.expire(lost))], LIMITS, () => newTransition());
    expect(await on.write(begin(lost, 'fetch'))).toEqual(['not-fenced']);
    const again = await on.claimAgain(lost);
    expect(await on.write(begin(lost, 'fetch'))).toEqual(['not-fenced']);
    expect(await on.write(awaiting(lost, [sleep('nap', 1)]))).toEqual(['not-fenced']);
    const poll = finish(lost, 'poll', { kind: 'poll', begun: false });
    expect(await on.write(poll)).toEqual(['not-fenced']);
    expect(await on.ledger(lost)).toEqual([]);
    expect(await on.write(begin(again, 'fetch'))).toEqual(['written']);
  });

  it('CANCEL-1: nothing is begun once the run is cancelled', async (on) => {
    const job = await on.startAndClaim();
    await on.cancel(job.run.id);
    expect(await on.write(begin(job, 'fetch'))).toEqual(['not-fenced']);
    expect(await on.write(awaiting(job, [sleep('nap', 1)]))).toEqual(['not-fenced']);
    expect(await on.ledger(job)).toEqual([]);
  });

  it('STEP-6: while a body has a live lease no other begins, whatever became of its attempt', async (on) => {
    const job = await on.startAndClaim();
    await on.write(begin(job, 'fetch', { leaseMs: 2 * LIMITS.staleMs }));
    await on.store.reap([lostRecord(await on.expire(job))], LIMITS, () => newTransition());
    const again = await on.claimAgain(job);
    expect(await on.write(begin(again, 'fetch'))).toEqual(['held']);
    const poll = finish(again, 'fetch', { kind: 'poll', begun: false });
    expect(await on.write(poll)).toEqual(['held']);
    expect(await on.step(again, 'fetch')).toMatchObject({ status: 'running', token: job.token, attempt: 1 });

    // It is taken over when its lease is over; the old body's end is nobody's any more.
    on.travel(2 * LIMITS.staleMs);
    expect((await on.step(again, 'fetch')).leaseInMs ?? 0).toBeLessThanOrEqual(0);
    await on.store.extendLeases([{ ...linear(again).lease }]);
    expect(await on.write(begin(again, 'fetch'))).toEqual(['written']);
    expect(await on.step(again, 'fetch')).toMatchObject({ status: 'running', token: again.token, attempt: 2 });
    expect(await on.write(finish(job, 'fetch', { seq: null }))).toEqual(['not-fenced']);
    await on.write(finish(again, 'fetch', { outcome: { kind: 'completed', result: '2' } }));
    expect(await on.write(finish(job, 'fetch', { seq: null }))).not.toEqual(['written']);
    expect(await on.step(again, 'fetch')).toMatchObject({ result: '2', seq: 1 });
  });

  it('STEP-6: of two processes that begin a step whose lease is over one does', async (on) => {
    for (let round = 0; round < 8; round++) {
      const job = await on.startAndClaim();
      await on.write(begin(job, 'fetch', { leaseMs: 1 }));
      on.travel(LIMITS.staleMs + 1_000);
      const [expired] = await on.store.findExpired(LIMITS, 100);
      if (expired === undefined) throw new Error('The lease did not go stale.');
      await on.store.reap([lostRecord(expired)], LIMITS, () => newTransition());
      const again = await on.claimAgain(job);
      const [late, mine] = await Promise.all([
        on.second.writeSteps([finish(job, 'fetch', { seq: null, outcome: { kind: 'completed', result: '"old"' } })]),
        on.store.writeSteps([begin(again, 'fetch')]),
      ]);
      const recorded = late[0] === 'written';
      const begun = mine[0] === 'written';
      expect(recorded && begun).toBe(false);
      const row = await on.step(again, 'fetch');
      if (recorded) expect(row).toMatchObject({ status: 'completed', result: '"old"' });
      if (begun) expect(row).toMatchObject({ status: 'running', token: again.token });
      await on.change(again.run.id, cancelling());
    }
  });

  it('STEP-6: a body whose attempt is over still records what it did, without a place', async (on) => {
    const job = await on.startAndClaim();
    await on.write(begin(job, 'fetch', { leaseMs: 2 * LIMITS.staleMs }));
    await on.store.reap([lostRecord(await on.expire(job))], LIMITS, () => newTransition());
    expect(await on.write(finish(job, 'fetch', { seq: null }))).toEqual(['written']);
    const again = await on.claimAgain(job);
    expect(await on.step(again, 'fetch')).toMatchObject({ status: 'completed', result: '"done"', seq: null });
    expect(await on.write(begin(again, 'fetch'))).toEqual(['settled']);
  });

  it('CANCEL-2: a body that ends after the cancel of its run is recorded, too', async (on) => {
    const job = await on.startAndClaim();
    await on.write(begin(job, 'fetch'));
    await on.cancel(job.run.id);
    const outcome = { kind: 'failed', failure: failureText('cancelled') } as const;
    expect(await on.write(finish(job, 'fetch', { outcome, seq: null }))).toEqual(['written']);
    expect(await on.step(job, 'fetch')).toMatchObject({ status: 'failed', failure: outcome.failure });
  });

  it('STEP-6: a lease that its holder extends does not end', async (on) => {
    const job = await on.startAndClaim();
    await on.write(begin(job, 'fetch', { leaseMs: 60_000 }));
    on.travel(50_000);
    const { id: stageRunId } = job.stageRun;
    const lease = { stageRunId, key: 'fetch', token: job.token, leaseMs: 60_000 };
    await on.store.extendSteps([lease, { ...lease, key: 'none' }]);
    const leaseInMs = async () => (await on.step(job, 'fetch')).leaseInMs ?? 0;
    expect(await leaseInMs()).toBeGreaterThan(40_000);
    // Those that somebody else holds are passed over, and what has ended stays ended.
    await on.store.extendSteps([{ ...lease, token: stageRunId, leaseMs: 600_000 }]);
    expect(await leaseInMs()).toBeLessThanOrEqual(60_000);
    await on.write(finish(job, 'fetch'));
    await on.store.extendSteps([lease]);
    expect(await on.step(job, 'fetch')).toMatchObject({ status: 'completed', leaseInMs: null });
    await on.store.extendSteps([]);
  });

  it('STEP-6: a lease that was over is taken up again by its own holder, if nobody took it', async (on) => {
    const job = await on.startAndClaim();
    await on.write(begin(job, 'fetch', { leaseMs: 10_000 }));
    on.travel(60_000);
    await on.store.extendSteps([
      { stageRunId: job.stageRun.id, key: 'fetch', token: job.token, leaseMs: STEP_LEASE_MS },
    ]);
    expect((await on.step(job, 'fetch')).leaseInMs ?? 0).toBeGreaterThan(STEP_LEASE_MS - 20_000);
    expect(await on.write(finish(job, 'fetch'))).toEqual(['written']);
  });

  it('LEASE-6: a body that is handed back in good order frees its lease at once', async (on) => {
    const job = await on.startAndClaim();
    await on.write(begin(job, 'fetch'), begin(job, 'done'));
    await on.write(finish(job, 'done'));
    const beside = { cancelWaits: false, reopen: [], freeSteps: true, notes: null };
    await on.store.record([linear(job, { outcome: released(), beside })]);
    expect(await on.step(job, 'fetch')).toMatchObject({ status: 'ready', leaseInMs: null });
    expect(await on.step(job, 'done')).toMatchObject({ status: 'completed' });
    const again = await on.claimAgain(job);
    expect(await on.write(begin(again, 'fetch'))).toEqual(['written']);
    expect(await on.step(again, 'fetch')).toMatchObject({ status: 'running', token: again.token, attempt: 2 });
  });

  it('LEASE-6: what another attempt holds is not freed', async (on) => {
    const job = await on.startAndClaim();
    await on.write(begin(job, 'fetch', { leaseMs: 2 * LIMITS.staleMs }));
    await on.store.reap([lostRecord(await on.expire(job))], LIMITS, () => newTransition());
    const again = await on.claimAgain(job);
    const beside = { cancelWaits: false, reopen: [], freeSteps: true, notes: null };
    await on.store.record([linear(again, { outcome: released(), beside })]);
    expect(await on.step(job, 'fetch')).toMatchObject({ status: 'running', token: job.token });
  });
}
