import type { ChangeDecision, LockedRun } from '../../../engine/ports/index.js';
import type { Transition } from '../../../engine/state/rows.js';
import {
  cancelling,
  completed,
  failed,
  failing,
  followedBy,
  group,
  joined,
  linear,
  lostRecord,
  newId,
  newJob,
  newStageRun,
  newTransition,
  retrying,
} from '../builders.js';
import { EVERYBODY, LIMITS, rejection } from '../store-under-test.js';
import type { StoreSuite } from '../suite.js';

const looking = ({ repeated }: LockedRun): ChangeDecision<boolean> => ({ transition: null, answer: repeated });

export function describeRunChanges({ it, expect }: StoreSuite): void {
  it('CANCEL-1: a change sees the run as it is now', async (on) => {
    const job = await on.startAndClaim({ priority: 2, queue: 'slow', deadlineMs: 3_600_000 });
    on.travel(60_000);
    let seen: LockedRun | undefined;
    const result = await on.store.changeRun(job.run.id, EVERYBODY, (run) => {
      seen = run;
      return { transition: null, answer: 'looked' };
    });
    expect(result).toEqual({ answer: 'looked', changed: false, finished: null });
    expect(seen?.row).toMatchObject({ id: job.run.id, status: 'RUNNING', priority: 2, queue: 'slow' });
    expect(seen?.state).toMatchObject({
      id: job.run.id,
      status: 'RUNNING',
      stageRunCount: 1,
      stageRuns: [{ id: job.stageRun.id, key: 'first', status: 'RUNNING', attempt: 1, requeues: 0 }],
    });
    expect(seen?.jobCount).toBe(1);
    expect(Math.abs((seen?.idleMs ?? 0) - 60_000)).toBeLessThanOrEqual(20_000);
    expect(Math.abs((seen?.deadlineInMs ?? 0) - 3_540_000)).toBeLessThanOrEqual(20_000);
  });

  it('RUN-5: a change under a key is told of the one that was made under it', async (on) => {
    const key = Buffer.from(newId().replaceAll('-', '').repeat(2), 'hex');
    const run = await on.start();
    const change = (transition: Transition | null) =>
      on.store.changeRun(run.id, EVERYBODY, ({ repeated }) => ({ transition, answer: repeated }), undefined, { key });
    expect((await change(null))?.answer).toBe(false);
    expect((await change(cancelling()))?.answer).toBe(false);
    expect((await change(null))?.answer).toBe(true);
    on.travel(1_000 * 86_400_000);
    await on.store.pruneKeys(1_000);
    expect((await change(null))?.answer).toBe(true);
    expect((await on.store.changeRun(run.id, EVERYBODY, looking))?.answer).toBe(false);
  });

  it('VER-1: jobs that a change holds are claimed again after it', async (on) => {
    const run = await on.start();
    const held = await on.store.changeRun(run.id, EVERYBODY, looking, undefined, { holdJobs: true });
    expect(held).toMatchObject({ answer: false, changed: false });
    expect((await on.claimOne()).run.id).toBe(run.id);
  });

  it('LIMIT-1: a change sees how many stage runs there ever were, by the highest ordinal', async (on) => {
    const run = await on.start({ transition: newTransition({ stageRuns: [newStageRun({ ordinal: 7 })] }) });
    const result = await on.store.changeRun(run.id, EVERYBODY, ({ state }) => ({
      transition: null,
      answer: state.stageRunCount,
    }));
    expect(result?.answer).toBe(7);
  });

  it('CANCEL-4: a run without a deadline has none', async (on) => {
    const run = await on.start();
    let deadlineInMs: number | null | undefined;
    await on.store.changeRun(run.id, EVERYBODY, (locked) => {
      deadlineInMs = locked.deadlineInMs;
      return { transition: null, answer: null };
    });
    expect(deadlineInMs).toBeNull();
  });

  it('OWNER-5: a run of another owner reads as missing, and nothing is asked', async (on) => {
    const run = await on.start({ ownerId: 'acme' });
    const never = (): never => {
      throw new Error('Nothing was to be decided.');
    };
    expect(await on.store.changeRun(run.id, { owner: 'other' }, never)).toBeUndefined();
    expect(await on.store.changeRun(run.id, { owner: null }, never)).toBeUndefined();
    expect(await on.store.changeRun(newId(), EVERYBODY, never)).toBeUndefined();
    const asked = await on.store.changeRun(run.id, { owner: 'acme' }, () => ({ transition: null, answer: 1 }));
    expect(asked?.answer).toBe(1);
  });

  it('CANCEL-1: run, open stages and jobs are cancelled together', async (on) => {
    const first = await on.startAndClaim({ awaited: true });
    const transition = group(['left', 'right'], { after: 1 });
    await on.store.record([linear(first, { outcome: completed('1'), transition })]);
    const live = await on.claimOne();
    const result = await on.store.changeRun(first.run.id, EVERYBODY, () => ({
      transition: cancelling(),
      answer: 'won',
    }));

    expect(result).toEqual({
      answer: 'won',
      changed: true,
      finished: { runId: first.run.id, status: 'CANCELLED', awaited: true },
    });
    expect(await on.run(first.run.id)).toMatchObject({ status: 'CANCELLED', cancelReason: 'asked for' });
    expect((await on.run(first.run.id)).finishedAt).not.toBeNull();
    expect(await on.statuses(first.run.id)).toEqual(['first COMPLETED', 'left CANCELLED', 'right CANCELLED']);
    for (const { finishedAt } of (await on.history(first.run.id)).stageRuns) expect(finishedAt).not.toBeNull();
    expect(await on.claim()).toEqual({ claimed: [], discarded: [] });
    expect(await on.store.record([linear(live)])).toEqual([{ verdict: 'not-fenced' }]);
  });

  it('FAULT F1: a run cancelled while a retry waits runs nothing more', async (on) => {
    const job = await on.startAndClaim();
    await on.store.record([linear(job, { outcome: retrying(60_000) })]);
    await on.cancel(job.run.id);
    on.travel(60_001);
    expect(await on.promote()).toBe(0);
    expect(await on.claim()).toEqual({ claimed: [], discarded: [] });
  });

  it('CANCEL-1: a run that has not begun can be cancelled, and never begins', async (on) => {
    const run = await on.start({ delayMs: 60_000 });
    await on.cancel(run.id);
    on.travel(60_001);
    expect(await on.promote()).toBe(0);
    expect(await on.run(run.id)).toMatchObject({ status: 'CANCELLED', startedAt: null });
  });

  it('EVT-1: a change is told with what it tells', async (on) => {
    const run = await on.start();
    await on.cancel(run.id);
    expect(await on.events(run.id)).toEqual([{ type: 'run:cancelled', data: { reason: 'asked for' } }]);
  });

  it('RUN-8: a change that throws writes nothing', async (on) => {
    const run = await on.start();
    const broken = new Error('No.');
    const error = await rejection(
      on.store.changeRun(run.id, EVERYBODY, () => {
        throw broken;
      }),
    );
    expect(error).toBe(broken);
    expect((await on.run(run.id)).status).toBe('RUNNING');
    expect(await on.isAnythingDue()).toBe(true);
  });

  it('RUN-8: a change that cannot be stored writes nothing', async (on) => {
    const run = await on.start();
    const [stageRun] = run.transition.stageRuns;
    const transition = cancelling({ stageRuns: [newStageRun({ id: stageRun?.id ?? '', ordinal: 2 })] });
    const error = await rejection(on.change(run.id, transition));
    expect(on.store.isDataError(error)).toBe(true);
    expect((await on.run(run.id)).status).toBe('RUNNING');
    expect(await on.eventTypes(run.id)).toEqual([]);
  });

  it('FAULT F2: of a cancel and a completion at once one wins, and the run shows which', async (on) => {
    for (let round = 0; round < 8; round++) {
      const job = await on.startAndClaim();
      const cancel = on.second.changeRun(job.run.id, EVERYBODY, ({ row }) =>
        row.status === 'RUNNING' ? { transition: cancelling(), answer: true } : { transition: null, answer: false },
      );
      const [verdicts, result] = await Promise.all([on.store.record([linear(job)]), cancel]);
      let [verdict] = verdicts;
      // Whoever held the lock may have been either of the two.
      while (verdict?.verdict === 'busy') [verdict] = await on.store.record([linear(job)], { lockTimeoutMs: 5_000 });
      const completedFirst = verdict?.verdict === 'recorded';
      expect(result?.answer).toBe(!completedFirst);
      const expected = completedFirst ? 'COMPLETED' : 'CANCELLED';
      expect((await on.run(job.run.id)).status).toBe(expected);
      expect(await on.statuses(job.run.id)).toEqual([`first ${expected}`]);
      expect(await on.claim()).toEqual({ claimed: [], discarded: [] });
    }
  });

  it('CANCEL-1: a cancel beside a record of the stage before leaves nothing open', async (on) => {
    for (let round = 0; round < 8; round++) {
      const job = await on.startAndClaim();
      const cancel = on.second.changeRun(job.run.id, EVERYBODY, () => ({ transition: cancelling(), answer: null }));
      const record = on.store.record([linear(job, { transition: followedBy() })]);
      await Promise.all([record, cancel]);
      const open = (await on.statuses(job.run.id)).filter((line) => /PENDING|RUNNING/.test(line));
      expect(open).toEqual([]);
      expect(await on.claim()).toEqual({ claimed: [], discarded: [] });
    }
  });

  it('RETRY-5: a reopened stage run goes on with the next attempt and a fresh budget', async (on) => {
    const job = await on.startAndClaim();
    await on.store.record([linear(job, { outcome: retrying() })]);
    await on.settle([joined(await on.claimOne(), { outcome: failed() })], () => failing());
    const reopened = { id: job.stageRun.id, job: newJob() };

    const result = await on.store.changeRun(job.run.id, EVERYBODY, () => ({
      transition: newTransition({
        run: { to: 'RUNNING' },
        reopened: [reopened],
        events: [{ type: 'run:retried' }],
      }),
      answer: null,
    }));

    expect(result).toEqual({ answer: null, changed: true, finished: null });
    expect(await on.run(job.run.id)).toMatchObject({
      status: 'RUNNING',
      failureCode: null,
      failureMessage: null,
      failedNode: null,
      finishedAt: null,
    });
    expect(await on.stageRun(job.run.id, 'first')).toMatchObject({ status: 'PENDING', attempt: 2, finishedAt: null });
    const again = await on.claimOne();
    expect(again).toMatchObject({ jobId: reopened.job.id, stageRun: { attempt: 3, budgetFrom: 2 } });
    expect((await on.history(job.run.id)).attempts).toHaveLength(2);
    expect(await on.store.record([linear(again)])).toMatchObject([{ finished: { status: 'COMPLETED' } }]);
  });

  it('RETRY-5: a manual retry renews the budget of losses, too', async (on) => {
    const job = await on.startAndClaim();
    await on.store.reap([lostRecord(await on.expire(job))], LIMITS, () => failing());
    await on.settle([joined(await on.claimOne(), { outcome: failed() })], () => failing());
    const reopened = [{ id: job.stageRun.id, job: newJob() }];
    await on.change(job.run.id, newTransition({ run: { to: 'RUNNING' }, reopened }));
    expect((await on.stageRun(job.run.id, 'first')).losses).toBe(0);
  });

  it('RETRY-5: in a group the open branches are counted anew, completed ones kept', async (on) => {
    await on.start({ transition: group(['left', 'middle', 'right']) });
    const { claimed } = await on.claim();
    const [done, broken, cancelled] = claimed;
    if (!done || !broken || !cancelled) throw new Error('Three branches were due.');
    await on.settle([joined(done, { outcome: completed('1') })], () => newTransition());
    await on.settle([joined(broken, { outcome: failed() })], () => failing());
    const reopened = [broken, cancelled].map(({ stageRun }) => ({ id: stageRun.id, job: newJob() }));
    const visits = [{ node: 'group', visit: 1, open: 2 }];
    await on.change(done.run.id, newTransition({ run: { to: 'RUNNING' }, reopened, visits }));

    let asked = 0;
    const decide = () => {
      asked += 1;
      return newTransition();
    };
    const again = (await on.claim()).claimed;
    expect(again).toHaveLength(2);
    for (const [nr, branch] of again.entries()) {
      expect(asked).toBe(0);
      await on.settle([joined(branch, { outcome: completed(String(nr)) })], decide);
    }
    expect(asked).toBe(1);
    expect(await on.stageRun(done.run.id, done.stageRun.key)).toMatchObject({ status: 'COMPLETED', output: '1' });
  });

  it('STUCK-1: an open stage whose job was lost is queued again, and that is counted', async (on) => {
    const lostJob = newStageRun({ job: null });
    const run = await on.start({ transition: newTransition({ stageRuns: [lostJob] }) });
    const job = newJob();
    await on.change(run.id, newTransition({ requeued: [{ id: lostJob.id, job }] }));
    let requeues: number | undefined;
    await on.store.changeRun(run.id, EVERYBODY, ({ state, jobCount }) => {
      requeues = state.stageRuns[0]?.requeues;
      return { transition: null, answer: jobCount };
    });
    expect(requeues).toBe(1);
    expect(await on.claimOne()).toMatchObject({ jobId: job.id, stageRun: { attempt: 1, budgetFrom: 0 } });
  });

  it('FAIL-1: the failure of a run keeps its parameters', async (on) => {
    const run = await on.start();
    const failure = { code: 'RUN_TIMEOUT', message: 'Too long.', params: { runId: run.id, nested: [1] }, node: null };
    await on.change(run.id, failing({ run: { to: 'FAILED', failure } }));
    const row = await on.run(run.id);
    expect(row).toMatchObject({ failureCode: 'RUN_TIMEOUT', failureMessage: 'Too long.', failedNode: null });
    expect(JSON.parse(row.failureParams ?? '')).toEqual({ runId: run.id, nested: [1] });
  });
}
