import type { ClaimedJob, NewRun, ParentStep } from '../../../engine/ports/index.js';
import {
  ending,
  failed,
  failing,
  joined,
  linear,
  newJob,
  newRun,
  newTransition,
  parentOf,
  startKey,
} from '../builders.js';
import { awaiting, childWait, sleep, suspending } from '../step-builders.js';
import type { StoreUnderTest } from '../store-under-test.js';
import type { StoreSuite } from '../suite.js';

interface Family {
  readonly parent: ClaimedJob;
  readonly child: ClaimedJob;
}

/** A claimed parent and its claimed child, which it does not wait for yet. */
async function family(on: StoreUnderTest, given: Partial<ParentStep> = {}, run: Partial<NewRun> = {}): Promise<Family> {
  const parent = await on.startAndClaim();
  const child = await on.startAndClaim({ ...run, parent: parentOf(parent, given) });
  return { parent, child };
}

const suspendFor = (on: StoreUnderTest, { parent, child }: Family) =>
  on.suspend(suspending(parent, [childWait('child', child.run.id)]));

/** Runs that a step of another run started. */
export function describeChildren({ it, expect }: StoreSuite): void {
  it('STEP-9: what a child came to ends the wait of its parent, once', async (on) => {
    const both = await family(on);
    await suspendFor(on, both);
    expect((await on.probe()).childrenEnded).toBe(false);
    expect(await on.store.deliverChildren(10)).toMatchObject({ delivered: 0 });
    const record = linear(both.child, { transition: ending('{"text":"\\u0000"}') });
    expect(await on.store.record([record])).toEqual([
      {
        verdict: 'recorded',
        handedOff: false,
        finished: { runId: both.child.run.id, status: 'COMPLETED', awaited: false, child: true },
      },
    ]);
    expect((await on.probe()).childrenEnded).toBe(true);
    expect(await on.store.deliverChildren(10)).toMatchObject({ delivered: 1 });
    expect((await on.probe()).childrenEnded).toBe(false);
    expect(await on.store.deliverChildren(10)).toMatchObject({ delivered: 0 });
    expect(await on.step(both.parent, 'child')).toMatchObject({
      kind: 'child',
      status: 'completed',
      result: '{"text":"\\u0000"}',
      childRunId: both.child.run.id,
      seq: null,
      timedOut: false,
    });
    expect((await on.claimAgain(both.parent)).stageRun.attempt).toBe(1);
  });

  it('STEP-9: the failure of a child is a failed step, with its cause', async (on) => {
    const both = await family(on);
    await suspendFor(on, both);
    const verdicts = await on.settle([joined(both.child, { outcome: failed() })], () => failing());
    expect(verdicts).toMatchObject([{ finished: { status: 'FAILED', child: true } }]);
    expect(await on.store.deliverChildren(10)).toMatchObject({ delivered: 1 });
    const row = await on.step(both.parent, 'child');
    expect(row).toMatchObject({ status: 'failed', result: null, reopened: false });
    const record = JSON.parse(row.failure ?? '') as { readonly message: string };
    expect(record).toMatchObject({
      code: 'CHILD_RUN_FAILED',
      name: 'ChildRunError',
      params: { runId: both.child.run.id, status: 'FAILED', failureCode: 'BROKEN', failureMessage: 'It broke.' },
      retryable: false,
    });
    expect(record.message.length).toBeGreaterThan(0);
    await on.claimAgain(both.parent);
  });

  it('STEP-9: a child that was cancelled is a failed step, too', async (on) => {
    const both = await family(on);
    await suspendFor(on, both);
    await on.cancel(both.child.run.id);
    expect(await on.store.deliverChildren(10)).toMatchObject({ delivered: 1 });
    const { status, failure } = await on.step(both.parent, 'child');
    expect(status).toBe('failed');
    expect(JSON.parse(failure ?? '')).toMatchObject({
      code: 'CHILD_RUN_FAILED',
      params: { runId: both.child.run.id, status: 'CANCELLED', failureCode: null, failureMessage: 'asked for' },
    });
  });

  it('FAULT D3: a child that ends before its parent waits for it is found when it does', async (on) => {
    for (const told of [false, true]) {
      const both = await family(on);
      await on.store.record([linear(both.child)]);
      if (told) await on.store.deliverChildren(10);
      expect(await suspendFor(on, both)).toMatchObject({ verdict: 'recorded', suspended: false });
      expect(await on.step(both.parent, 'child')).toMatchObject({ status: 'completed', result: '"the end"' });
      expect(await on.store.deliverChildren(10)).toMatchObject({ delivered: 0 });
      const again = await on.claimAgain(both.parent);
      expect(await on.store.record([linear(again)])).toMatchObject([{ finished: { status: 'COMPLETED' } }]);
    }
  });

  it('FAULT D3: a child that failed before its parent waits for it is found failed', async (on) => {
    const both = await family(on);
    await on.settle([joined(both.child, { outcome: failed() })], () => failing());
    expect(await suspendFor(on, both)).toMatchObject({ suspended: false });
    expect(await on.step(both.parent, 'child')).toMatchObject({ status: 'failed', result: null });
  });

  it('STEP-9: a child that ends while its parent runs marks the wait', async (on) => {
    const both = await family(on);
    await on.write(awaiting(both.parent, [childWait('child', both.child.run.id), sleep('nap', 60_000)]));
    await on.store.record([linear(both.child)]);
    expect(await on.store.deliverChildren(10)).toMatchObject({ delivered: 1 });
    expect(await on.isAnythingDue()).toBe(false);
    const record = suspending(both.parent, [], { keep: ['child', 'nap'] });
    expect(await on.suspend(record)).toMatchObject({ suspended: false });
  });

  it('WAIT-2: the end of a child that nobody awaits any more wakes nobody', async (on) => {
    const both = await family(on);
    await suspendFor(on, both);
    await on.cancel(both.parent.run.id);
    await on.store.record([linear(both.child)]);
    await on.store.deliverChildren(10);
    expect((await on.probe()).childrenEnded).toBe(false);
    expect(await on.step(both.parent, 'child')).toMatchObject({ status: 'cancelled', result: null });
    expect(await on.isAnythingDue()).toBe(false);
  });

  it('STEP-9: a child that is not waited for lives and ends on its own', async (on) => {
    const { parent, child } = await family(on, { waits: false });
    await on.cancel(parent.run.id);
    expect(await on.store.findOrphans(10)).toEqual([]);
    expect(await on.store.record([linear(child)])).toEqual([
      {
        verdict: 'recorded',
        handedOff: false,
        finished: { runId: child.run.id, status: 'COMPLETED', awaited: false },
      },
    ]);
    expect((await on.probe()).childrenEnded).toBe(false);
    expect(await on.store.deliverChildren(10)).toMatchObject({ delivered: 0 });
  });

  it('CANCEL-3: open children that were waited for are found when their parent has ended', async (on) => {
    const cancelled = await family(on);
    await suspendFor(on, cancelled);
    const broken = await family(on);
    const done = await family(on);
    await on.store.record([linear(done.child)]);
    expect((await on.probe()).orphans).toBe(false);
    await on.cancel(cancelled.parent.run.id);
    await on.settle([joined(broken.parent, { outcome: failed() })], () => failing());
    await on.cancel(done.parent.run.id);
    expect((await on.probe()).orphans).toBe(true);
    const orphans = [...(await on.store.findOrphans(10))].sort((a, b) => (a.runId < b.runId ? -1 : 1));
    expect(orphans).toEqual(
      [
        { runId: cancelled.child.run.id, parentEnded: 'CANCELLED', terminated: false },
        { runId: broken.child.run.id, parentEnded: 'FAILED', terminated: false },
      ].sort((a, b) => (a.runId < b.runId ? -1 : 1)),
    );
    expect(await on.store.findOrphans(1)).toHaveLength(1);
    await on.cancel(cancelled.child.run.id);
    await on.store.record([linear(broken.child)]);
    expect(await on.store.findOrphans(10)).toEqual([]);
    expect((await on.probe()).orphans).toBe(false);
  });

  it('CANCEL-3: a grandchild follows when its parent is cancelled in turn', async (on) => {
    const both = await family(on);
    const grandchild = await on.startAndClaim({ parent: parentOf(both.child, { depth: 2 }) });
    await on.cancel(both.parent.run.id);
    expect((await on.store.findOrphans(10)).map(({ runId }) => runId)).toEqual([both.child.run.id]);
    await on.cancel(both.child.run.id);
    expect((await on.store.findOrphans(10)).map(({ runId }) => runId)).toEqual([grandchild.run.id]);
  });

  it('FAULT D4: two children that end in two processes wake their parent, and both are delivered', async (on) => {
    for (let round = 0; round < 8; round++) {
      const parent = await on.startAndClaim();
      const one = await on.startAndClaim({ parent: parentOf(parent, { key: 'one' }) });
      const two = await on.startAndClaim({ parent: parentOf(parent, { key: 'two' }) });
      await on.suspend(suspending(parent, [childWait('one', one.run.id), childWait('two', two.run.id)]));
      const ends = await Promise.all([on.store.record([linear(one)]), on.second.record([linear(two)])]);
      expect(ends).toMatchObject([[{ verdict: 'recorded' }], [{ verdict: 'recorded' }]]);
      const delivered = await Promise.all([on.store.deliverChildren(10), on.second.deliverChildren(10)]);
      const left = await on.store.deliverChildren(10);
      expect([...delivered, left].reduce((sum, each) => sum + each.delivered, 0)).toBe(2);
      expect((await on.ledger(parent)).map(({ status }) => status)).toEqual(['completed', 'completed']);
      const [again, ...more] = (await on.claim()).claimed;
      expect(again?.stageRun.id).toBe(parent.stageRun.id);
      expect(more).toEqual([]);
    }
  });

  it('FAULT D3: of a child that ends and a parent that is suspended at once neither misses the other', async (on) => {
    for (let round = 0; round < 8; round++) {
      const both = await family(on);
      const [, ended] = await Promise.all([suspendFor(on, both), on.second.record([linear(both.child)])]);
      expect(ended).toMatchObject([{ verdict: 'recorded' }]);
      await on.store.deliverChildren(10);
      const again = await on.claimAgain(both.parent);
      expect(await on.step(again, 'child')).toMatchObject({ status: 'completed', result: '"the end"' });
      await on.store.record([linear(again)]);
    }
  });

  it('FAULT D14: children that end together make one job', async (on) => {
    const parent = await on.startAndClaim();
    const children: ClaimedJob[] = [];
    for (let nr = 0; nr < 5; nr++) {
      children.push(await on.startAndClaim({ parent: parentOf(parent, { key: `child ${nr}` }) }));
    }
    const waits = children.map(({ run }, nr) => childWait(`child ${nr}`, run.id));
    await on.suspend(suspending(parent, waits));
    await on.store.record(children.map((child) => linear(child)));
    expect(await on.store.deliverChildren(10)).toMatchObject({ delivered: 5 });
    expect((await on.claim()).claimed).toHaveLength(1);
  });

  it('STEP-9: a step that waits for another child, since its stage was retried, is not ended by the first one', async (on) => {
    const parent = await on.startAndClaim();
    const [old, fresh] = [
      await on.startAndClaim({ parent: parentOf(parent) }),
      await on.startAndClaim({ parent: parentOf(parent) }),
    ];
    await on.suspend(suspending(parent, [childWait('child', fresh.run.id)]));
    await on.store.record([linear(old)]);
    expect(await on.store.deliverChildren(10)).toEqual({ delivered: 0, told: 1, more: false });
    expect(await on.step(parent, 'child')).toMatchObject({ status: 'waiting' });
    await on.store.record([linear(fresh, { transition: ending('"fresh"') })]);
    expect(await on.store.deliverChildren(1)).toEqual({ delivered: 1, told: 1, more: true });
    expect(await on.step(parent, 'child')).toMatchObject({ status: 'completed', result: '"fresh"' });
  });

  it('CANCEL-3: a child that is started when its parent has ended is an orphan from the start', async (on) => {
    const parent = await on.startAndClaim();
    await on.cancel(parent.run.id);
    const child = await on.start({ parent: parentOf(parent) });
    expect(await on.store.findOrphans(10)).toEqual([{ runId: child.id, parentEnded: 'CANCELLED', terminated: false }]);
    const other = await on.start({ parent: parentOf(parent, { waits: false }) });
    expect((await on.store.findOrphans(10)).map(({ runId }) => runId)).not.toContain(other.id);
  });

  it('CANCEL-4: of a parent that was terminated that is told, until it goes on again', async (on) => {
    const both = await family(on);
    const run = { to: 'CANCELLED', reason: null, terminated: true } as const;
    await on.cancel(both.parent.run.id, { run });
    expect(await on.store.findOrphans(10)).toMatchObject([{ runId: both.child.run.id, terminated: true }]);
    await on.change(both.parent.run.id, newTransition({ run: { to: 'RUNNING' } }));
    await on.cancel(both.parent.run.id);
    expect(await on.store.findOrphans(10)).toMatchObject([{ runId: both.child.run.id, terminated: false }]);
  });

  it('CANCEL-3: when the parent goes on again its children are spared', async (on) => {
    const both = await family(on);
    await on.cancel(both.parent.run.id);
    expect((await on.probe()).orphans).toBe(true);
    const reopened = [{ id: both.parent.stageRun.id, job: newJob() }];
    await on.change(both.parent.run.id, newTransition({ run: { to: 'RUNNING' }, reopened }));
    expect(await on.store.findOrphans(10)).toEqual([]);
    expect((await on.probe()).orphans).toBe(false);
  });

  it('CANCEL-3: a child that goes on again is nobody’s orphan, and its end is told anew', async (on) => {
    const both = await family(on);
    await suspendFor(on, both);
    await on.store.record([linear(both.child)]);
    expect(await on.store.deliverChildren(10)).toMatchObject({ told: 1 });
    await on.change(both.child.run.id, newTransition({ run: { to: 'RUNNING' } }));
    expect((await on.probe()).childrenEnded).toBe(false);
    await on.cancel(both.child.run.id);
    expect((await on.probe()).childrenEnded).toBe(true);
    expect(await on.store.deliverChildren(10)).toMatchObject({ told: 1, delivered: 0 });
  });

  it('WAKE-3: children are delivered in pages', async (on) => {
    const families: Family[] = [];
    for (let nr = 0; nr < 3; nr++) {
      const both = await family(on);
      await suspendFor(on, both);
      families.push(both);
    }
    await on.store.record(families.map(({ child }) => linear(child)));
    expect(await on.store.deliverChildren(2)).toMatchObject({ delivered: 2 });
    expect(await on.store.deliverChildren(2)).toMatchObject({ delivered: 1 });
    expect(await on.store.deliverChildren(2)).toMatchObject({ delivered: 0 });
    expect((await on.claim()).claimed).toHaveLength(3);
  });

  it('IDEM-2: the key of a child lives as long as the child', async (on) => {
    const parent = await on.startAndClaim();
    const idempotency = { ...startKey('child'), ttlMs: null };
    const first = newRun({ idempotency, parent: parentOf(parent) });
    await on.store.createRuns([first]);
    on.travel(400 * 86_400_000);
    expect((await on.probe()).expiredKeys).toBe(false);
    expect(await on.store.pruneKeys(10)).toBe(0);
    const again = newRun({ idempotency, parent: parentOf(parent) });
    expect(await on.store.createRuns([again])).toMatchObject([{ runId: first.id, created: false }]);
  });
}
