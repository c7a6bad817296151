import type { OwnerScope } from '../../../engine/ports/index.js';
import {
  completed,
  followedBy,
  group,
  linear,
  newId,
  newRun,
  newStageRun,
  newTransition,
  retrying,
} from '../builders.js';
import { newSignal, signalWait, suspending } from '../step-builders.js';
import { EVERYBODY } from '../store-under-test.js';
import type { StoreSuite } from '../suite.js';

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

export function describeRunReads({ it, expect }: StoreSuite): void {
  it('WAIT-1: a run waits when all that is open of it is suspended', async (on) => {
    const first = await on.startAndClaim();
    const waiting = async (): Promise<boolean> => (await on.run(first.run.id)).waiting;
    await on.store.record([linear(first, { outcome: completed('1'), transition: group(['left', 'right']) })]);
    const [left, right] = [await on.claimOne(), await on.claimOne()];
    expect(await waiting()).toBe(false);
    await on.suspend(suspending(left, [signalWait('asked')]));
    expect(await waiting()).toBe(false);
    await on.suspend(suspending(right, [signalWait('never', { eventKey: 'other' })]));
    expect(await waiting()).toBe(true);
    expect((await on.history(first.run.id)).run.waiting).toBe(true);
    await on.store.sendSignal(newSignal(), first.run.id, EVERYBODY);
    expect(await waiting()).toBe(false);
    await on.cancel(first.run.id);
    expect(await waiting()).toBe(false);
  });

  it('OWNER-5: a scope sees its own runs; null only ownerless ones; all is said', async (on) => {
    const [mine, theirs, nobodys] = [newRun({ ownerId: 'a' }), newRun({ ownerId: 'b' }), newRun()];
    await on.store.createRuns([mine, theirs, nobodys]);
    await on.cancel(mine.id);
    await on.cancel(theirs.id);
    await on.cancel(nobodys.id);
    const ids = [mine.id, theirs.id, nobodys.id];
    const scopes: [OwnerScope, string[]][] = [
      [{ owner: 'a' }, [mine.id]],
      [{ owner: 'b' }, [theirs.id]],
      [{ owner: null }, [nobodys.id]],
      [{ owner: 'nobody' }, []],
      [EVERYBODY, ids],
    ];
    for (const [scope, visible] of scopes) {
      const seen = async (read: (id: string) => Promise<unknown>): Promise<string[]> => {
        const found: string[] = [];
        for (const id of ids) if ((await read(id)) !== undefined) found.push(id);
        return found;
      };
      expect(await seen((id) => on.store.getRun(id, scope))).toEqual(visible);
      expect(await seen((id) => on.store.history(id, scope))).toEqual(visible);
      const lists = [
        await on.store.listRuns({ limit: 10 }, scope),
        await on.store.awaitRuns(ids, scope),
        await on.store.readFinished(ids, scope),
      ];
      for (const list of lists) expect(list.map(({ id }) => id).sort()).toEqual([...visible].sort());
      expect((await on.store.countRuns(scope)).CANCELLED ?? 0).toBe(visible.length);
    }
  });

  it('OWNER-3: runs about a subject are found within their owner, newest first; what they tell names it', async (on) => {
    const subject = { type: 'order', id: 'o1' };
    const [first, second] = [newRun({ ownerId: 'a', subject }), newRun({ ownerId: 'a', subject })];
    const others = [
      newRun({ ownerId: 'a' }),
      newRun({ ownerId: 'a', subject: { type: 'order', id: 'o2' } }),
      newRun({ ownerId: 'a', subject: { type: 'invoice', id: 'o1' } }),
      newRun({ ownerId: 'b', subject }),
      newRun({ subject }),
    ];
    await on.store.createRuns([first, second, ...others]);
    const found = async (scope: OwnerScope, more: object = {}): Promise<string[]> =>
      (await on.store.listRuns({ subject, limit: 10, ...more }, scope)).map(({ id }) => id);
    expect(await found({ owner: 'a' })).toEqual([second.id, first.id]);
    expect(await found({ owner: 'a' }, { before: second.id, definitionId: 'documents' })).toEqual([first.id]);
    expect(await found({ owner: 'a' }, { status: ['COMPLETED'] })).toEqual([]);
    expect(await found({ owner: null })).toEqual([others[4]?.id]);
    expect(await found(EVERYBODY)).toHaveLength(4);
    expect(await on.run(first.id)).toMatchObject({ subjectType: 'order', subjectId: 'o1' });
    expect(await on.run(others[0]!.id)).toMatchObject({ subjectType: null, subjectId: null });
  });

  it('EVT-1: what an event’s run is about comes out of the outbox with it', async (on) => {
    const transition = newTransition({ stageRuns: [newStageRun()], events: [{ type: 'run:started' }] });
    await on.start({ subject: { type: 'order', id: 'o1' }, transition });
    const slots = await on.store.leaseSlots('reader', 60_000, 100);
    const [row] = await on.store.readOutbox('reader', slots, 10);
    expect(row).toMatchObject({ subjectType: 'order', subjectId: 'o1' });
  });

  it('RUN-3: a run is read with its payloads', async (on) => {
    const run = await on.start({ ownerId: 'a', actor: '{"id":1}', priority: 2, queue: 'slow' });
    const row = await on.store.getRun(run.id, EVERYBODY);
    expect(row).toMatchObject({
      id: run.id,
      definitionId: 'documents',
      definitionVersion: 1,
      definitionKey: 'documents@1#f1',
      status: 'RUNNING',
      ownerId: 'a',
      actor: '{"id":1}',
      generation: 1,
      priority: 2,
      queue: 'slow',
      finishedAt: null,
      failureCode: null,
      failureMessage: null,
      failureParams: null,
      failedNode: null,
      cancelReason: null,
      input: '{"a":1}',
      output: null,
    });
    expect(ISO.test(row?.createdAt ?? '')).toBe(true);
    expect(ISO.test(row?.startedAt ?? '')).toBe(true);
    expect(await on.store.getRun(newId(), EVERYBODY)).toBeUndefined();
  });

  it('FAULT K19: a list carries no payloads', async (on) => {
    await on.start();
    const [row] = await on.store.listRuns({ limit: 1 }, EVERYBODY);
    for (const column of ['input', 'output', 'failureParams']) expect(Object.keys(row ?? {})).not.toContain(column);
  });

  it('FAULT K19: runs are listed newest first, a page after the other', async (on) => {
    const runs = [newRun(), newRun(), newRun(), newRun(), newRun()];
    await on.store.createRuns(runs);
    const pages: string[][] = [];
    for (let before: string | undefined; pages.length < 4;) {
      const page = await on.store.listRuns({ limit: 2, ...(before !== undefined && { before }) }, EVERYBODY);
      pages.push(page.map(({ id }) => id));
      before = page.at(-1)?.id ?? before;
    }
    const newestFirst = runs.map(({ id }) => id).reverse();
    expect(pages).toEqual([newestFirst.slice(0, 2), newestFirst.slice(2, 4), newestFirst.slice(4), []]);
  });

  it('RUN-3: a list is narrowed by definition and status', async (on) => {
    const [one, two] = [await on.start(), await on.start({ definitionId: 'invoices' })];
    await on.cancel(two.id);
    const list = async (filter: object): Promise<string[]> =>
      (await on.store.listRuns({ limit: 10, ...filter }, EVERYBODY)).map(({ id }) => id);
    expect(await list({ definitionId: 'invoices' })).toEqual([two.id]);
    expect(await list({ status: ['RUNNING'] })).toEqual([one.id]);
    expect(await list({ status: ['RUNNING', 'CANCELLED'] })).toEqual([two.id, one.id]);
    expect(await list({ status: ['FAILED'] })).toEqual([]);
    expect(await list({ status: ['CANCELLED'], definitionId: 'documents' })).toEqual([]);
  });

  it('FAULT K19: runs are counted by status', async (on) => {
    await on.store.createRuns([newRun(), newRun(), newRun({ delayMs: 1_000 }), newRun({ definitionId: 'invoices' })]);
    expect(await on.store.countRuns(EVERYBODY)).toEqual({ RUNNING: 3, PENDING: 1 });
    expect(await on.store.countRuns(EVERYBODY, 'invoices')).toEqual({ RUNNING: 1 });
    expect(await on.store.countRuns(EVERYBODY, 'unknown')).toEqual({});
  });

  it('FAIL-2: a history holds run, stage runs in order, and failed attempts in order', async (on) => {
    const first = await on.startAndClaim();
    await on.store.record([linear(first, { outcome: retrying() })]);
    on.travel(1_000);
    const again = await on.claimOne();
    await on.store.record([linear(again, { outcome: completed('1'), transition: followedBy() })]);
    on.travel(1_000);
    await on.store.record([linear(await on.claimOne(), { outcome: retrying() })]);

    const { run, stageRuns, attempts } = await on.history(first.run.id);
    expect(run.id).toBe(first.run.id);
    expect(stageRuns).toMatchObject([
      {
        runId: run.id,
        generation: 1,
        node: 'first',
        key: 'first',
        stage: 'first-stage',
        visit: 1,
        position: 0,
        ordinal: 1,
        status: 'COMPLETED',
        attempt: 2,
        losses: 0,
        skipReason: null,
        output: '1',
      },
      { key: 'second', position: 1, ordinal: 2, status: 'PENDING', errorCode: 'EXCEPTION', output: null },
    ]);
    const instants = [stageRuns[0]?.createdAt, stageRuns[0]?.startedAt, stageRuns[0]?.finishedAt];
    for (const instant of instants) expect(ISO.test(instant ?? '')).toBe(true);
    expect(attempts.map(({ stageRunId }) => stageRunId)).toEqual([first.stageRun.id, stageRuns[1]?.id]);
    for (const { startedAt, endedAt } of attempts) {
      expect(ISO.test(startedAt ?? '')).toBe(true);
      expect(ISO.test(endedAt)).toBe(true);
    }
    expect(await on.store.history(newId(), EVERYBODY)).toBeUndefined();
  });

  it('RUN-4: awaited runs are marked, and those that ended already are answered', async (on) => {
    const [open, ended] = [await on.startAndClaim(), await on.startAndClaim()];
    await on.store.record([linear(ended, { outcome: completed('1') })]);
    const answered = await on.store.awaitRuns([open.run.id, ended.run.id, newId()], EVERYBODY);
    expect(answered).toMatchObject([{ id: ended.run.id, status: 'COMPLETED', output: '"the end"' }]);
    expect(await on.store.record([linear(open)])).toMatchObject([{ finished: { awaited: true } }]);
    const finished = await on.store.readFinished([open.run.id, ended.run.id], EVERYBODY);
    expect(finished.map(({ id }) => id).sort()).toEqual([open.run.id, ended.run.id].sort());
  });

  it('RUN-4: runs that have not ended are not read as finished', async (on) => {
    const run = await on.start();
    expect(await on.store.readFinished([run.id, newId()], EVERYBODY)).toEqual([]);
    expect(await on.store.readFinished([], EVERYBODY)).toEqual([]);
    expect(await on.store.awaitRuns([], EVERYBODY)).toEqual([]);
  });
}
