import type { NewRun } from '../../../engine/ports/index.js';
import { ending, group, newId, newJob, newRun, newStageRun, newTransition, startKey } from '../builders.js';
import { EVERYBODY, rejection, type StoreUnderTest } from '../store-under-test.js';
import type { StoreSuite } from '../suite.js';

export function describeStarts({ it, expect }: StoreSuite): void {
  it('RUN-8: a start writes the run, its first stage run and its job', async (on) => {
    const run = await on.start();
    expect(await on.run(run.id)).toMatchObject({ status: 'RUNNING', input: '{"a":1}', output: null, finishedAt: null });
    expect(await on.statuses(run.id)).toEqual(['first PENDING']);
    expect((await on.claimOne()).run.id).toBe(run.id);
  });

  it('RUN-8: starts of one call are written all or not at all', async (on) => {
    const stageRun = newStageRun();
    const good = newRun({ transition: newTransition({ stageRuns: [stageRun], events: [{ type: 'run:started' }] }) });
    const bad = newRun({ transition: newTransition({ stageRuns: [newStageRun({ id: stageRun.id })] }) });

    const error = await rejection(on.store.createRuns([good, bad]));

    expect(on.store.isDataError(error)).toBe(true);
    expect(on.store.isTransient(error)).toBe(false);
    expect(await on.store.getRun(good.id, EVERYBODY)).toBeUndefined();
    expect(await on.isAnythingDue()).toBe(false);
  });

  it('RUN-8: a start that was refused leaves its key free', async (on) => {
    const stageRun = newStageRun();
    await on.start({ transition: newTransition({ stageRuns: [stageRun] }) });
    const bad = newRun({ idempotency: startKey('k'), transition: newTransition({ stageRuns: [stageRun] }) });
    await rejection(on.store.createRuns([bad]));

    const [again] = await on.store.createRuns([newRun({ idempotency: startKey('k') })]);
    expect(again).toMatchObject({ created: true });
  });

  it('RUN-8: answers stand in the order of the runs', async (on) => {
    await on.start({ idempotency: startKey('taken') });
    const runs = [newRun(), newRun({ idempotency: startKey('taken') }), newRun({ idempotency: startKey('free') })];
    const answers = await on.store.createRuns(runs);
    expect(answers.map(({ created }) => created)).toEqual([true, false, true]);
    expect(answers[0]?.runId).toBe(runs[0]?.id);
    expect(answers[2]?.runId).toBe(runs[2]?.id);
  });

  it('RUN-8: no runs are no work', async (on) => {
    expect(await on.store.createRuns([])).toEqual([]);
  });

  it('IDEM-1: a start key that lives yields the run that holds it and writes nothing', async (on) => {
    const first = await on.start({ idempotency: startKey('k') });
    const again = newRun({ idempotency: startKey('k') });

    const [answer] = await on.store.createRuns([again]);

    expect(answer).toMatchObject({ runId: first.id, created: false });
    expect(await on.store.getRun(again.id, EVERYBODY)).toBeUndefined();
    expect((await on.claim()).claimed).toHaveLength(1);
  });

  it('IDEM-1: a start that has ended already holds its key like any other', async (on) => {
    const failure = { code: 'START_RATE_EXCEEDED', message: 'Too often.', params: {}, node: null };
    const transition = newTransition({ run: { to: 'FAILED', failure } });
    const refused = newRun({ idempotency: startKey('k'), transition });
    const [first] = await on.store.createRuns([refused]);
    expect(first).toMatchObject({ runId: refused.id, created: true });
    expect(await on.store.heldKeys([startKey('k').digest])).toEqual([true]);
    const [again] = await on.store.createRuns([newRun({ idempotency: startKey('k') })]);
    expect(again).toMatchObject({ runId: refused.id, created: false });
    expect(await on.run(refused.id)).toMatchObject({ status: 'FAILED', failureCode: 'START_RATE_EXCEEDED' });
    expect((await on.claim()).claimed).toEqual([]);
  });

  it('IDEM-1: a key that stands twice in one call starts one run', async (on) => {
    const runs = [newRun({ idempotency: startKey('k') }), newRun({ idempotency: startKey('k') })];
    const answers = await on.store.createRuns(runs);
    expect(answers.map(({ runId }) => runId)).toEqual([runs[0]?.id, runs[0]?.id]);
    expect(answers.map(({ created }) => created)).toEqual([true, false]);
  });

  it('FAULT C11: parallel starts with one key give one run, and all callers get it', async (on) => {
    const stores = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? on.store : on.second));
    const answers = await Promise.all(
      stores.map(async (store) => (await store.createRuns([newRun({ idempotency: startKey('k') })]))[0]),
    );
    expect(answers.filter((answer) => answer?.created)).toHaveLength(1);
    expect(new Set(answers.map((answer) => answer?.runId)).size).toBe(1);
    expect((await on.claim()).claimed).toHaveLength(1);
  });

  it('FAULT A15: one key of two owners has two digests and starts two runs', async (on) => {
    const mine = await on.start({ ownerId: 'a', idempotency: startKey('a|documents|k') });
    const [theirs] = await on.store.createRuns([newRun({ ownerId: 'b', idempotency: startKey('b|documents|k') })]);
    expect(theirs).toMatchObject({ created: true });
    expect(theirs?.runId).not.toBe(mine.id);
  });

  it('IDEM-2: a key that has expired starts a new run and is then held by that one', async (on) => {
    const first = await on.start({ idempotency: startKey('k', { ttlMs: 60_000 }) });
    on.travel(60_001);
    const second = newRun({ idempotency: startKey('k', { ttlMs: 60_000 }) });

    const [renewed] = await on.store.createRuns([second]);
    const [repeated] = await on.store.createRuns([newRun({ idempotency: startKey('k') })]);

    expect(renewed).toMatchObject({ runId: second.id, created: true });
    expect(repeated).toMatchObject({ runId: second.id, created: false });
    expect(first.id).not.toBe(second.id);
  });

  it('IDEM-3: the answer carries the input digest of the run that holds the key', async (on) => {
    const first = startKey('k', { input: 'one' });
    const [created] = await on.store.createRuns([newRun({ idempotency: first })]);
    const [repeated] = await on.store.createRuns([newRun({ idempotency: startKey('k', { input: 'two' }) })]);
    expect(created?.inputDigest?.toString('hex')).toBe(first.inputDigest.toString('hex'));
    expect(repeated?.inputDigest?.toString('hex')).toBe(first.inputDigest.toString('hex'));
  });

  it('IDEM-3: without a key there is no digest', async (on) => {
    const [created] = await on.store.createRuns([newRun()]);
    expect(created?.inputDigest).toBeNull();
  });

  it('RUN-6: a delayed start is PENDING and not due until it is promoted', async (on) => {
    const run = await on.start({ delayMs: 60_000 });
    expect(await on.run(run.id)).toMatchObject({ status: 'PENDING', startedAt: null });
    expect(await on.promote()).toBe(0);
    expect(await on.isAnythingDue()).toBe(false);

    on.travel(60_001);
    expect(await on.promote()).toBe(1);
    expect((await on.run(run.id)).status).toBe('RUNNING');
    expect((await on.run(run.id)).startedAt).not.toBeNull();
    expect((await on.claimOne()).run.id).toBe(run.id);
  });

  it('RUN-6: a delayed start tells run:started when it begins', async (on) => {
    const run = await on.start({ delayMs: 60_000 });
    expect(await on.eventTypes(run.id)).toEqual([]);
    on.travel(60_001);
    await on.promote();
    expect(await on.eventTypes(run.id)).toEqual(['run:started']);
  });

  it('RUN-6: a start at an instant waits for that instant', async (on) => {
    const startAt = new Date(Date.parse(await on.store.now()) + 3_600_000).toISOString();
    const run = await on.start({ startAt });
    on.travel(3_599_000);
    expect(await on.promote()).toBe(0);
    on.travel(2_000);
    expect(await on.promote()).toBe(1);
    expect((await on.claimOne()).run.id).toBe(run.id);
  });

  it('FAULT B7: a start at an instant that has passed is due now, and begins in the same call', async (on) => {
    const run = newRun({ startAt: await instant(on, -3_600_000) });
    const [answer] = await on.store.createRuns([run]);
    expect(answer).toMatchObject({ created: true, dueInMs: 0 });
    expect((await on.run(run.id)).status).toBe('RUNNING');
    expect((await on.run(run.id)).startedAt).not.toBeNull();
    expect(await on.eventTypes(run.id)).toEqual(['run:started']);
    expect((await on.claimOne()).run.id).toBe(run.id);
    expect(await on.promote()).toBe(0);
  });

  it('FAULT B3: the store says in how long a start is due, each of a call by itself, with keys too', async (on) => {
    const [later, past] = [await instant(on, 3_600_000), await instant(on, -1_000)];
    const runs = [newRun(), newRun({ startAt: later }), newRun({ startAt: past }), newRun({ delayMs: 60_000 })];
    const keyed = runs.map((run, at) => ({ ...run, ...newIds(run), idempotency: startKey(`k${at}`) }));
    for (const group of [runs, keyed]) {
      const dueInMs = (await on.store.createRuns(group)).map((answer) => answer.dueInMs);
      expect(dueInMs[1]).toBeGreaterThan(3_540_000);
      expect(dueInMs[1]).toBeLessThanOrEqual(3_600_000);
      expect(dueInMs).toEqual([0, dueInMs[1], 0, 60_000]);
      const statuses = await Promise.all(group.map(async ({ id }) => (await on.run(id)).status));
      expect(statuses).toEqual(['RUNNING', 'PENDING', 'RUNNING', 'PENDING']);
      expect((await on.claim()).claimed.map(({ run }) => run.id)).toEqual([group[0]?.id, group[2]?.id]);
    }
  });

  it('EVT-1: what a start at a time tells comes after run:started if it is due, and before it if not', async (on) => {
    const events = [{ type: 'stage:skipped' as const, stageRunId: newId(), node: 'zero', data: { reason: 'when' } }];
    const start = async (startAt: string): Promise<string> =>
      (await on.start({ startAt, transition: newTransition({ stageRuns: [newStageRun()], events }) })).id;
    const due = await start(await instant(on, -1_000));
    const later = await start(await instant(on, 60_000));
    expect(await on.eventTypes(due)).toEqual(['run:started', 'stage:skipped']);
    expect(await on.eventTypes(later)).toEqual(['stage:skipped']);
    on.travel(60_001);
    await on.promote();
    expect(await on.eventTypes(later)).toEqual(['stage:skipped', 'run:started']);
  });

  it('RUN-8: a start at a time that skips everything ends at once, and tells no start of its own', async (on) => {
    const events = [{ type: 'run:started' as const }, { type: 'run:completed' as const }];
    for (const ms of [-1_000, 60_000]) {
      const stageRuns = [newStageRun({ status: 'SKIPPED', skipReason: 'when' })];
      const run = await on.start({ startAt: await instant(on, ms), transition: { ...ending('1'), stageRuns, events } });
      expect((await on.run(run.id)).status).toBe('COMPLETED');
      expect(await on.eventTypes(run.id)).toEqual(['run:started', 'run:completed']);
    }
  });

  it('RUN-8: a start that skips everything ends at once', async (on) => {
    const stageRuns = [newStageRun({ status: 'SKIPPED', skipReason: 'when' })];
    const run = await on.start({ transition: { ...ending('null'), stageRuns } });
    expect(await on.run(run.id)).toMatchObject({ status: 'COMPLETED', output: 'null' });
    expect((await on.run(run.id)).finishedAt).not.toBeNull();
    expect(await on.stageRun(run.id, 'first')).toMatchObject({ status: 'SKIPPED', skipReason: 'when' });
    expect(await on.isAnythingDue()).toBe(false);
  });

  it('FAIL-1: a start whose condition throws is written FAILED, with what failed', async (on) => {
    const failure = { code: 'CONDITION_FAILED', message: 'No.', params: { node: 'first' }, node: 'first' };
    const stageRuns = [newStageRun({ status: 'FAILED', failure })];
    const run = await on.start({ transition: newTransition({ run: { to: 'FAILED', failure }, stageRuns }) });
    const row = await on.run(run.id);
    expect(row).toMatchObject({
      status: 'FAILED',
      failureCode: 'CONDITION_FAILED',
      failureMessage: 'No.',
      failedNode: 'first',
    });
    expect(JSON.parse(row.failureParams ?? '')).toEqual({ node: 'first' });
    expect(await on.stageRun(run.id, 'first')).toMatchObject({
      status: 'FAILED',
      errorCode: 'CONDITION_FAILED',
      errorMessage: 'No.',
    });
  });

  it('GRP-1: a run that begins with a group has a job for each branch', async (on) => {
    await on.start({ transition: group(['left', 'right']) });
    const { claimed } = await on.claim();
    expect(claimed.map(({ stageRun }) => stageRun.key).sort()).toEqual(['left', 'right']);
  });

  it('EVT-1: what a start tells is written with it, in order', async (on) => {
    const id = newId();
    const events = [
      { type: 'run:started' as const },
      { type: 'stage:skipped' as const, stageRunId: id, node: 'zero', data: { reason: 'when' } },
    ];
    const run = await on.start({ transition: newTransition({ stageRuns: [newStageRun()], events }) });
    expect(await on.events(run.id)).toEqual(events);
  });

  it('CANCEL-4: a deadline counts from the start', async (on) => {
    const run = await on.start({ deadlineMs: 60_000 });
    expect(await on.store.findOverdue(10, 0)).toEqual([]);
    on.travel(60_001);
    expect(await on.store.findOverdue(10, 0)).toEqual([{ runId: run.id }]);
  });

  it('FAULT B3: a deadline counts from a start that is to come, and from now where that has passed', async (on) => {
    const deadlineMs = 600_000;
    const past = await on.start({ startAt: await instant(on, -3_600_000), deadlineMs });
    const at = await on.start({ startAt: await instant(on, 3_600_000), deadlineMs });
    const delayed = await on.start({ delayMs: 7_200_000, deadlineMs });
    const overdue = async (): Promise<string[]> => (await on.store.findOverdue(10, 0)).map(({ runId }) => runId);
    on.travel(deadlineMs - 60_000);
    expect(await overdue()).toEqual([]);
    on.travel(61_000);
    expect(await overdue()).toEqual([past.id]);
    on.travel(3_540_000);
    expect(await overdue()).toEqual([past.id]);
    on.travel(60_000);
    expect(await overdue()).toEqual([past.id, at.id]);
    on.travel(3_600_000);
    expect(await overdue()).toEqual([past.id, at.id, delayed.id]);
  });

  it('LIMIT-3: starts of a minute are counted by definition, whoever counts them', async (on) => {
    const [a, b] = [newId(), newId()];
    await onWholeMinute(on);
    expect(await on.store.countStarts(a, 3)).toMatchObject({ counted: 3 });
    expect(await on.second.countStarts(a, 4)).toMatchObject({ counted: 7 });
    expect(await on.store.countStarts(b, 1)).toMatchObject({ counted: 1 });
  });

  it('LIMIT-3: the next minute begins anew, and the answer says when that is', async (on) => {
    const id = newId();
    await onWholeMinute(on);
    await on.store.countStarts(id, 5);
    const { counted, nextInMs } = await on.store.countStarts(id, 1);
    expect(counted).toBe(6);
    expect(nextInMs).toBeGreaterThan(0);
    expect(nextInMs).toBeLessThanOrEqual(60_000);
    on.travel(nextInMs);
    expect(await on.store.countStarts(id, 1)).toMatchObject({ counted: 1 });
  });

  it('LIMIT-3: of forty counts at once each is another', async (on) => {
    const id = newId();
    await onWholeMinute(on);
    const counts = Array.from({ length: 40 }, (_, at) => (at % 2 ? on.store : on.second).countStarts(id, 1));
    const seen = (await Promise.all(counts)).map(({ counted }) => counted);
    expect(seen.sort((x, y) => x - y)).toEqual(seen.map((_, at) => at + 1));
  });

  it('LIMIT-3: the place of a start is counted once, whoever asks about it and when', async (on) => {
    const id = newId();
    await onWholeMinute(on);
    const place = { digest: startKey('place').digest, ownerId: null, ttlMs: 120_000 };
    await on.store.countStarts(id, 2);
    expect(await on.store.countStarts(id, 1, place)).toMatchObject({ counted: 3 });
    const { counted, nextInMs } = await on.second.countStarts(id, 1, place);
    expect([counted, (await on.store.countStarts(id, 1)).counted]).toEqual([3, 4]);
    on.travel(nextInMs);
    expect(await on.store.countStarts(id, 1, place)).toMatchObject({ counted: 3 });
    expect(await on.store.countStarts(id, 1)).toMatchObject({ counted: 1 });
    on.travel(place.ttlMs);
    expect(await on.store.countStarts(id, 1, place)).toMatchObject({ counted: 1 });
  });

  it('LIMIT-3: of forty who ask about one place at once all get the same, the least', async (on) => {
    const id = newId();
    await onWholeMinute(on);
    const place = { digest: startKey('asked').digest, ownerId: null, ttlMs: 60_000 };
    const counts = Array.from({ length: 40 }, (_, at) => (at % 2 ? on.store : on.second).countStarts(id, 1, place));
    expect(new Set((await Promise.all(counts)).map(({ counted }) => counted))).toEqual(new Set([1]));
  });

  it('LIMIT-3, IDEM-2: a start key is held while its row lives', async (on) => {
    const [held, free] = [startKey('held', { ttlMs: 1_000 }), startKey('free')];
    await on.start({ idempotency: held });
    expect(await on.store.heldKeys([free.digest, held.digest])).toEqual([false, true]);
    expect(await on.store.heldKeys([])).toEqual([]);
    on.travel(1_001);
    expect(await on.store.heldKeys([held.digest])).toEqual([false]);
  });
}

/** Counts of a test stand in one minute: it begins with one. */
async function onWholeMinute(on: StoreUnderTest): Promise<void> {
  on.travel((await on.store.countStarts(newId(), 1)).nextInMs);
}

/** So many milliseconds from now on the store's clock. */
async function instant({ store }: StoreUnderTest, ms: number): Promise<string> {
  return new Date(Date.parse(await store.now()) + ms).toISOString();
}

function newIds({ transition }: NewRun): Pick<NewRun, 'id' | 'transition'> {
  const stageRuns = transition.stageRuns.map((row) => ({ ...row, id: newId(), job: newJob() }));
  return { id: newId(), transition: { ...transition, stageRuns } };
}
