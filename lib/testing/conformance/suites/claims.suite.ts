import {
  completed,
  followedBy,
  group,
  leaseOf,
  linear,
  newId,
  newJob,
  newRun,
  newStageRun,
  newTransition,
  retrying,
  skipped,
} from '../builders.js';
import type { StoreSuite } from '../suite.js';

export function describeClaims({ it, expect }: StoreSuite): void {
  it('JOB-1: no job is claimed twice, however many claim at once', async (on) => {
    await on.store.createRuns(Array.from({ length: 40 }, () => newRun()));
    const request = { limit: 7, queues: null, unserved: [] };
    const taken: string[] = [];
    for (let round = 0; round < 10; round++) {
      const results = await Promise.all(
        [on.store, on.second, on.store, on.second].map((store, i) => store.claim({ ...request, workerId: `w${i}` })),
      );
      taken.push(...results.flatMap(({ claimed }) => claimed.map(({ jobId }) => jobId)));
    }
    expect(taken).toHaveLength(40);
    expect(new Set(taken).size).toBe(40);
  });

  it('JOB-1: a claim takes no more than its limit', async (on) => {
    await on.store.createRuns([newRun(), newRun(), newRun()]);
    expect((await on.claim({ limit: 2 })).claimed).toHaveLength(2);
    expect((await on.claim({ limit: 2 })).claimed).toHaveLength(1);
    expect((await on.claim({ limit: 2 })).claimed).toHaveLength(0);
  });

  it('LEASE-1: a claim marks the stage run RUNNING, on the clock of the store, with a token of its own', async (on) => {
    const one = await on.start();
    const two = await on.start();
    on.travel(3_600_000);
    const { claimed } = await on.claim({ workerId: 'worker-b' });

    const stageRun = await on.stageRun(one.id, 'first');
    expect(stageRun).toMatchObject({ status: 'RUNNING', attempt: 1 });
    const now = Date.parse(await on.store.now());
    expect(Math.abs(now - Date.parse(stageRun.startedAt ?? ''))).toBeLessThanOrEqual(60_000);
    expect(new Set(claimed.map(({ token }) => token)).size).toBe(2);
    const fences = await on.store.readFences(claimed.map((job) => job.stageRun.id));
    expect(fences.map(({ token }) => token).sort()).toEqual(claimed.map(({ token }) => token).sort());
    expect((await on.stageRun(two.id, 'first')).status).toBe('RUNNING');
  });

  it('JOB-2: a claim brings what the body needs', async (on) => {
    const run = await on.start({
      ownerId: 'acme',
      subject: { type: 'order', id: 'o1' },
      subjectSeen: true,
      actor: '{"id":"u1"}',
      trace: '00-trace',
      priority: 3,
      queue: 'slow',
      definitionVersion: 2,
      definitionKey: 'documents@2#f2',
      transition: newTransition({ stageRuns: [newStageRun({ node: 'n', key: 'k', stage: 's' })] }),
    });
    const [stageRun] = run.transition.stageRuns;
    const job = await on.claimOne();
    expect(job).toMatchObject({ kind: 'execute', jobId: stageRun?.job?.id, earlier: [], unlisted: [], isLatest: true });
    expect(job.run).toEqual({
      id: run.id,
      definitionId: 'documents',
      definitionVersion: 2,
      definitionKey: 'documents@2#f2',
      generation: 1,
      depth: 0,
      ownerId: 'acme',
      subject: { type: 'order', id: 'o1' },
      subjectSeen: true,
      touches: 0,
      actor: '{"id":"u1"}',
      trace: '00-trace',
      priority: 3,
      queue: 'slow',
      input: '{"a":1}',
    });
    expect(job.stageRun).toEqual({
      id: stageRun?.id,
      node: 'n',
      key: 'k',
      stage: 's',
      visit: 1,
      ordinal: 1,
      attempt: 1,
      budgetFrom: 0,
      deferrals: 0,
      hasLedger: false,
      resumed: false,
    });
  });

  it('RUN-3: a claim brings the outputs before, oldest first, skipped ones too', async (on) => {
    const first = await on.startAndClaim();
    await on.store.record([linear(first, { outcome: completed('1'), transition: followedBy() })]);
    const second = await on.claimOne();
    const third = followedBy({ key: 'third', ordinal: 3 });
    await on.store.record([linear(second, { outcome: skipped(), transition: third })]);
    const { earlier } = await on.claimOne();
    expect(earlier).toEqual([
      { node: 'first', key: 'first', stage: 'first-stage', output: '1', status: 'COMPLETED', outcome: null },
      { node: 'second', key: 'second', stage: 'second-stage', output: null, status: 'SKIPPED', outcome: null },
    ]);
  });

  it('RUN-6: higher priority is claimed first, then what has been due for longer', async (on) => {
    const late = await on.start({ delayMs: 120_000 });
    const early = await on.start({ delayMs: 60_000 });
    const urgent = await on.start({ priority: 5 });
    on.travel(120_001);
    await on.promote();
    const order = [await on.claimOne(), await on.claimOne(), await on.claimOne()];
    expect(order.map(({ run }) => run.id)).toEqual([urgent.id, early.id, late.id]);
  });

  it('RUN-6: of jobs due at the same instant the smaller id is first', async (on) => {
    const runs = [newRun(), newRun(), newRun()];
    await on.store.createRuns(runs.toReversed());
    const order = [await on.claimOne(), await on.claimOne(), await on.claimOne()];
    expect(order.map(({ run }) => run.id)).toEqual(runs.map(({ id }) => id));
  });

  it('RUN-6: a worker claims only from the queues it serves; null is every queue', async (on) => {
    await on.start({ transition: newTransition({ stageRuns: [newStageRun({ job: newJob({ queue: 'mail' }) })] }) });
    expect((await on.claim({ queues: ['default', 'slow'] })).claimed).toHaveLength(0);
    expect((await on.claim({ queues: [] })).claimed).toHaveLength(0);
    expect((await on.claim({ queues: ['slow', 'mail'] })).claimed).toHaveLength(1);
    await on.start();
    expect((await on.claim({ queues: null })).claimed).toHaveLength(1);
  });

  it('FAULT C14: jobs of another queue in front do not hide the queue asked for', async (on) => {
    await on.store.createRuns(Array.from({ length: 5 }, () => newRun({ priority: 9 })));
    const mail = newStageRun({ job: newJob({ queue: 'mail' }) });
    const run = await on.start({ transition: newTransition({ stageRuns: [mail] }) });
    expect((await on.claimOne({ queues: ['mail'] })).run.id).toBe(run.id);
  });

  it('GHOST-3: definitions that are not served are left alone, before the limit counts', async (on) => {
    await on.store.createRuns(Array.from({ length: 5 }, () => newRun({ definitionKey: 'old@1#x', priority: 9 })));
    const run = await on.start();
    expect((await on.claimOne({ unserved: ['old@1#x'] })).run.id).toBe(run.id);
    expect((await on.claim({ unserved: ['old@1#x'] })).claimed).toHaveLength(0);
    expect((await on.claim()).claimed).toHaveLength(5);
  });

  it('GHOST-1: a job whose run has ended is an orphan: told, and gone', async (on) => {
    const run = await on.start();
    await on.cancel(run.id, { cancelOpen: false });
    const [stageRun] = run.transition.stageRuns;
    const result = await on.claim();
    expect(result.claimed).toEqual([]);
    expect(result.discarded).toEqual([
      { jobId: stageRun?.job?.id, runId: run.id, stageRunId: stageRun?.id, ghost: 'orphan' },
    ]);
    expect(await on.claim()).toEqual({ claimed: [], discarded: [] });
  });

  it('GHOST-4: a job whose stage run is not PENDING is a duplicate: told, gone, and nothing written', async (on) => {
    const stageRun = newStageRun({ status: 'SKIPPED', skipReason: 'when', job: newJob() });
    const run = await on.start({ transition: newTransition({ stageRuns: [stageRun] }) });
    expect((await on.claim()).discarded).toEqual([
      { jobId: stageRun.job?.id, runId: run.id, stageRunId: stageRun.id, ghost: 'duplicate' },
    ]);
    expect(await on.claim()).toEqual({ claimed: [], discarded: [] });
    expect(await on.stageRun(run.id, 'first')).toMatchObject({ status: 'SKIPPED', attempt: 0 });
    expect(await on.eventTypes(run.id)).toEqual([]);
  });

  it('EVT-1: a claim tells stage:started with the number of the attempt', async (on) => {
    const run = await on.start({ transition: group(['left']) });
    const first = await on.claimOne();
    await on.store.record([linear(first, { outcome: retrying() })]);
    await on.claimOne();
    const [stageRun] = run.transition.stageRuns;
    const started = { type: 'stage:started', stageRunId: stageRun?.id, node: 'left', stage: 'left-stage' };
    expect(await on.events(run.id)).toEqual([
      { ...started, data: { attempt: 1 } },
      { ...started, data: { attempt: 2 } },
    ]);
  });

  it('JOB-5: a stage run is claimed by its id', async (on) => {
    await on.start();
    const run = await on.start();
    const [stageRun] = run.transition.stageRuns;
    const job = await on.store.claimStageRun(stageRun?.id ?? '', 'worker-a');
    expect(job).toMatchObject({ kind: 'execute', run: { id: run.id }, stageRun: { attempt: 1 } });
    expect((await on.stageRun(run.id, 'first')).status).toBe('RUNNING');
    expect((await on.claim()).claimed).toHaveLength(1);
  });

  it('GHOST-2: a stage run that is not visible yet is a race', async (on) => {
    expect(await on.store.claimStageRun(newId(), 'worker-a')).toBe('race');
  });

  it('GHOST-4: a stage run that somebody has claimed is a duplicate', async (on) => {
    const job = await on.startAndClaim();
    expect(await on.store.claimStageRun(job.stageRun.id, 'worker-b')).toBe('duplicate');
    expect(await on.store.extendLeases([leaseOf(job)])).toEqual(new Map([[job.jobId, 'held']]));
    await on.store.record([linear(job, { transition: followedBy() })]);
    expect(await on.store.claimStageRun(job.stageRun.id, 'worker-b')).toBe('duplicate');
  });

  it('GHOST-1: a stage run whose run has ended is an orphan', async (on) => {
    const run = await on.start();
    await on.cancel(run.id);
    const [stageRun] = run.transition.stageRuns;
    expect(await on.store.claimStageRun(stageRun?.id ?? '', 'worker-a')).toBe('orphan');
  });
}
