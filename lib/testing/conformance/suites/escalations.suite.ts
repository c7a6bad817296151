import type { SettleEvent } from '../../../engine/ports/index.js';
import type { NewStageRun, Transition } from '../../../engine/state/rows.js';
import {
  cancelling,
  completed,
  ending,
  failed,
  joined,
  leaseOf,
  linear,
  lostForGood,
  lostRecord,
  newJob,
  newRun,
  newStageRun,
  newTransition,
  retrying,
} from '../builders.js';
import { sleep, suspending } from '../step-builders.js';
import { EVERYBODY, LIMITS, type StoreUnderTest } from '../store-under-test.js';
import type { StoreSuite } from '../suite.js';

const HOUR_MS = 3_600_000;
const STUCK_AFTER_MS = 900_000;

const escalation = (given: Partial<NewStageRun> = {}): NewStageRun =>
  newStageRun({ node: 'sign', key: 'sign#1', stage: 'notify', job: newJob({ delayMs: HOUR_MS }), ...given });

/** A visit with what happens when it takes an hour. */
const visit = (...escalations: NewStageRun[]): Transition =>
  newTransition({ stageRuns: [newStageRun({ key: 'sign' }), ...escalations] });

/** A run whose visit is claimed, and whose escalation is too. */
async function late(on: StoreUnderTest) {
  const visited = await on.startAndClaim({ transition: visit(escalation()) });
  on.travel(HOUR_MS + 1_000);
  await on.promote();
  return { visited, escalated: await on.claimOne({ workerId: 'worker-b' }) };
}

/** What graphs need of the rows of escalations: stage runs that stand beside a visit, told by their keys. */
export function describeEscalations({ it, expect }: StoreSuite): void {
  it('ESC-1: the job of one is due when its time has come since its run began, not before', async (on) => {
    const run = await on.start({ transition: visit(escalation()) });
    const other = await on.start({ delayMs: HOUR_MS, transition: visit(escalation()) });
    expect((await on.claim()).claimed.map(({ stageRun }) => stageRun.key)).toEqual(['sign']);
    on.travel(HOUR_MS - 60_000);
    expect(await on.promote()).toBe(0);
    on.travel(61_000);
    expect(await on.store.promoteDelayed(100, 0)).toMatchObject({ promoted: 2, retries: 0, escalations: 1 });
    const due = (await on.claim()).claimed.map((job) => [job.run.id === run.id, job.stageRun.key]);
    expect(due.sort()).toEqual([
      [false, 'sign'],
      [true, 'sign#1'],
    ]);
    on.travel(HOUR_MS - 60_000);
    expect(await on.promote()).toBe(0);
    on.travel(61_000);
    expect(await on.promote()).toBe(1);
    expect((await on.claimOne()).run.id).toBe(other.id);
  });

  it('ESC-1: one that follows later has its time from then on', async (on) => {
    const first = await on.startAndClaim();
    on.travel(10 * HOUR_MS);
    const following = visit(escalation({ ordinal: 2 }));
    await on.settle([joined(first)], () => following);
    const [, , row] = (await on.history(first.run.id)).stageRuns;
    const now = Date.parse(await on.store.now());
    expect(Math.abs(Date.parse(row!.dueAt!) - now - HOUR_MS)).toBeLessThanOrEqual(20_000);
    expect((await on.claim()).claimed.map(({ stageRun }) => stageRun.key)).toEqual(['sign']);
    on.travel(HOUR_MS + 60_000);
    expect(await on.promote()).toBe(1);
  });

  it('ESC-1: it stands after its visit in the history, and says when it is due as long as it waits', async (on) => {
    const run = await on.start({ transition: visit(escalation(), escalation({ key: 'sign#2' })) });
    const { stageRuns } = await on.history(run.id);
    expect(stageRuns.map(({ key, dueAt }) => [key, dueAt !== null])).toEqual([
      ['sign', false],
      ['sign#1', true],
      ['sign#2', true],
    ]);
    on.travel(HOUR_MS + 1_000);
    await on.promote();
    const later = await on.history(run.id);
    expect(later.stageRuns.map(({ dueAt }) => dueAt)).toEqual([null, null, null]);
  });

  it('ESC-2: its end, and its failure, are its own: no end of the node, no failure of the run', async (on) => {
    const asked: SettleEvent[] = [];
    const ended = async (outcome: ReturnType<typeof failed>): Promise<SettleEvent> => {
      const { escalated, visited } = await late(on);
      await on.settle([joined(escalated, { outcome })], (_key, _state, events) => {
        asked.push(...events);
        return newTransition();
      });
      expect((await on.stageRun(visited.run.id, 'sign')).status).toBe('RUNNING');
      await on.cancel(visited.run.id);
      return { ...asked.at(-1)! };
    };
    expect(await ended(completed())).toMatchObject({ type: 'escalation-ended', failure: null });
    expect(await ended(failed({ code: 'DOWN' }))).toMatchObject({
      type: 'escalation-ended',
      failure: { code: 'DOWN' },
    });
    expect(asked).toHaveLength(2);
  });

  it('ESC-2: both of one visit, ended in one call, are both told', async (on) => {
    const { escalated, visited } = await late(on);
    const types: string[] = [];
    await on.settle([joined(visited), joined(escalated)], (_key, _state, events) => {
      types.push(...events.map(({ type }) => type));
      return newTransition();
    });
    expect(types.sort()).toEqual(['escalation-ended', 'node-settled']);
  });

  it('ESC-2: a lease of it that is lost for good is its own failure too', async (on) => {
    const { escalated } = await late(on);
    const expired = await on.expire(escalated);
    const asked: SettleEvent[] = [];
    await on.store.reap([lostRecord(expired, { outcome: lostForGood() })], LIMITS, (_key, _state, events) => {
      asked.push(...events);
      return newTransition();
    });
    expect(asked).toMatchObject([{ type: 'escalation-ended', stageRunId: escalated.stageRun.id }]);
    expect((await on.run(escalated.run.id)).status).toBe('RUNNING');
  });

  it('ESC-2: it is tried again like a stage', async (on) => {
    const { escalated } = await late(on);
    await on.store.record([linear(escalated, { outcome: retrying(60_000) })]);
    on.travel(61_000);
    expect(await on.store.promoteDelayed(100, 0)).toMatchObject({ promoted: 1, retries: 1, escalations: 0 });
    expect((await on.claimAgain(escalated)).stageRun.attempt).toBe(2);
  });

  it('ESC-1: the visit that it leaves is cancelled alone, and says by which outcome the run went on', async (on) => {
    const { escalated, visited } = await late(on);
    const went = { kind: 'completed', output: '1', outcome: 'late' } as const;
    const left = visited.stageRun.id;
    await on.settle([joined(escalated, { outcome: went })], () =>
      newTransition({
        cancelled: [left],
        leftBy: { [left]: 'late' },
        stageRuns: [newStageRun({ key: 'next', ordinal: 2 })],
      }),
    );
    const { stageRuns } = await on.history(visited.run.id);
    expect(stageRuns.map(({ key, status, outcome }) => [key, status, outcome])).toEqual([
      ['sign', 'CANCELLED', 'late'],
      ['sign#1', 'COMPLETED', 'late'],
      ['next', 'PENDING', null],
    ]);
    expect(await on.settle([joined(visited)], () => newTransition())).toEqual([{ verdict: 'not-fenced' }]);
    expect(await on.store.extendLeases([leaseOf(visited)])).toEqual(new Map([[visited.jobId, 'cancelled']]));
  });

  it('ESC-1: what was cancelled with its visit is opened again with a time of its own', async (on) => {
    const waiting = escalation();
    const visited = await on.startAndClaim({ transition: visit(waiting) });
    await on.settle([joined(visited, { outcome: failed() })], () =>
      newTransition({
        run: { to: 'FAILED', failure: { code: 'NO', message: 'No.', params: null, node: 'sign' } },
        cancelOpen: true,
      }),
    );
    expect((await on.stageRun(visited.run.id, 'sign#1')).status).toBe('CANCELLED');
    on.travel(10 * HOUR_MS);
    await on.change(
      visited.run.id,
      newTransition({
        run: { to: 'RUNNING' },
        reopened: [
          { id: visited.stageRun.id, job: newJob() },
          { id: waiting.id, job: newJob({ delayMs: HOUR_MS }) },
        ],
      }),
    );
    expect((await on.claim()).claimed.map(({ stageRun }) => stageRun.key)).toEqual(['sign']);
    on.travel(HOUR_MS - 60_000);
    expect(await on.promote()).toBe(0);
    on.travel(61_000);
    expect(await on.promote()).toBe(1);
  });

  it('CANCEL-1: a cancel of the run cancels those that wait and those that are at it, and their jobs', async (on) => {
    const { escalated, visited } = await late(on);
    await on.change(visited.run.id, cancelling());
    expect(await on.statuses(visited.run.id)).toEqual(['sign CANCELLED', 'sign#1 CANCELLED']);
    expect(await on.settle([joined(escalated)], () => newTransition())).toEqual([{ verdict: 'not-fenced' }]);
    expect(await on.isAnythingDue()).toBe(false);
    const run = await on.start({ transition: visit(escalation()) });
    await on.change(run.id, cancelling());
    on.travel(2 * HOUR_MS);
    expect(await on.promote()).toBe(0);
  });

  it('GRAPH-3: what it came to is no output of its node', async (on) => {
    const { escalated, visited } = await late(on);
    await on.settle([joined(escalated)], () => newTransition());
    await on.settle([joined(visited)], () => newTransition({ stageRuns: [newStageRun({ key: 'next', ordinal: 2 })] }));
    const next = await on.claimOne();
    expect(next.earlier.map(({ key }) => key)).toEqual(['sign']);
  });

  it('EVT-2: its beginning is no beginning of a stage', async (on) => {
    const { visited } = await late(on);
    expect(await on.eventTypes(visited.run.id)).toEqual(['stage:started']);
  });

  it('WAIT-1: a run whose visit waits is waiting, whatever is to happen later', async (on) => {
    const visited = await on.startAndClaim({ transition: visit(escalation()) });
    await on.suspend(suspending(visited, [sleep('nap', 2 * HOUR_MS)]));
    expect((await on.run(visited.run.id)).waiting).toBe(true);
  });

  it('STUCK-1: one that waits for its time keeps nobody from finding that its run is stuck', async (on) => {
    const stuck = newTransition({
      stageRuns: [newStageRun({ key: 'sign', job: null }), escalation({ job: newJob({ delayMs: 1_000 * HOUR_MS }) })],
    });
    const run = newRun({ transition: stuck });
    await on.store.createRuns([run]);
    on.travel(STUCK_AFTER_MS + 1_000);
    expect((await on.probe({ stuckAfterMs: STUCK_AFTER_MS })).stuckSuspects).toBe(true);
    expect((await on.store.findStuck(STUCK_AFTER_MS, null, 1_000)).runIds).toContain(run.id);
    const looked = await on.store.changeRun(run.id, EVERYBODY, ({ jobCount }) => ({
      transition: null,
      answer: jobCount,
    }));
    expect(looked!.answer).toBe(0);
  });

  it('ESC-1: a run that ends has none that is open', async (on) => {
    const waiting = escalation();
    const visited = await on.startAndClaim({ transition: visit(waiting) });
    await on.settle([joined(visited)], () => ({ ...ending(), cancelled: [waiting.id] }));
    expect(await on.statuses(visited.run.id)).toEqual(['sign COMPLETED', 'sign#1 CANCELLED']);
    on.travel(2 * HOUR_MS);
    expect(await on.promote()).toBe(0);
  });
}
