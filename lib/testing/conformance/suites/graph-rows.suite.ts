import type { ClaimedJob } from '../../../engine/ports/index.js';
import type { RunState, Transition } from '../../../engine/state/rows.js';
import { joined, leaseOf, linear, newId, newStageRun, newTransition, parentOf } from '../builders.js';
import { childWait, signalWait, sleep, suspending } from '../step-builders.js';
import { EVERYBODY, type StoreUnderTest } from '../store-under-test.js';
import type { StoreSuite } from '../suite.js';

/** Two branches of a graph: nodes of their own, without a counter. */
const branches = (): Transition =>
  newTransition({
    stageRuns: [
      newStageRun({
        key: 'fork',
        status: 'COMPLETED',
        output: '{"branches":["l","r"]}',
        outcome: null,
      }),
      newStageRun({ key: 'left', ordinal: 2 }),
      newStageRun({ key: 'right', ordinal: 3 }),
    ],
  });

async function claimBranches(on: StoreUnderTest): Promise<[left: ClaimedJob, right: ClaimedJob]> {
  const run = await on.start({ transition: branches() });
  const { claimed } = await on.claim();
  const mine = claimed.filter((job) => job.run.id === run.id);
  const of = (key: string): ClaimedJob => mine.find(({ stageRun }) => stageRun.key === key)!;
  return [of('left'), of('right')];
}

const leaving = ({ stageRun }: ClaimedJob, given: Partial<Transition> = {}): Transition =>
  newTransition({ cancelled: [stageRun.id], ...given });

/** What graphs need of the rows beside what pipelines do. */
export function describeGraphRows({ it, expect }: StoreSuite): void {
  it('VER-1: a claim names the nodes of visits that it does not bring, and tells whether others were come to later', async (on) => {
    const [left, right] = await claimBranches(on);
    expect(left).toMatchObject({ unlisted: ['right'], isLatest: false });
    expect(right).toMatchObject({ unlisted: ['left'], isLatest: true });
    const after = newStageRun({ key: 'after', ordinal: 4 });
    await on.settle([joined(left)], () => leaving(right, { stageRuns: [after] }));
    const { claimed } = await on.claim();
    const next = claimed.find(({ kind }) => kind === 'execute')!;
    expect(next).toMatchObject({ unlisted: ['right'], isLatest: true, earlier: [{ key: 'fork' }, { key: 'left' }] });
  });

  it('VER-1: of visits that have all ended by themselves a claim names none', async (on) => {
    const [left, right] = await claimBranches(on);
    await on.settle([joined(left)], () => newTransition());
    const after = newStageRun({ key: 'after', ordinal: 4 });
    await on.settle([joined(right)], () => newTransition({ stageRuns: [after] }));
    expect(await on.claimOne()).toMatchObject({ stageRun: { key: 'after' }, unlisted: [], isLatest: true });
  });

  it('GRAPH-4: a node that no worker is needed for is a stage run that has ended, with what it came to', async (on) => {
    const passed = newStageRun({ key: 'large', status: 'COMPLETED', output: '"\\u0000"', outcome: 'true' });
    const run = await on.start({
      transition: newTransition({ stageRuns: [passed, newStageRun({ key: 'next', ordinal: 2 })] }),
    });
    const job = await on.claimOne();
    expect(job.earlier).toMatchObject([{ key: 'large', status: 'COMPLETED', output: '"\\u0000"' }]);
    const follows = [
      newStageRun({ key: 'small', ordinal: 3, status: 'COMPLETED', output: 'false', outcome: 'false' }),
      newStageRun({ key: 'large', visit: 2, ordinal: 4 }),
    ];
    const went = { kind: 'completed', output: '1' } as const;
    await on.settle([joined(job, { outcome: went })], () => newTransition({ stageRuns: follows }));
    const history = await on.store.history(run.id, EVERYBODY);
    expect(
      history!.stageRuns.map(({ key, visit, status, output, outcome }) => [key, visit, status, output, outcome]),
    ).toEqual([
      ['large', 1, 'COMPLETED', '"\\u0000"', 'true'],
      ['next', 1, 'COMPLETED', '1', null],
      ['small', 1, 'COMPLETED', 'false', 'false'],
      ['large', 2, 'PENDING', null, null],
    ]);
  });

  it('GRAPH-4: which way a node went is stored, and seen by whoever decides, every visit with it', async (on) => {
    const [left, right] = await claimBranches(on);
    const states: RunState[] = [];
    const went = { kind: 'completed', output: '1', outcome: 'approved' } as const;
    await on.settle([joined(left, { outcome: went })], (_key, state) => {
      states.push(state);
      return newTransition({ stageRuns: [newStageRun({ key: 'left', visit: 2, ordinal: 4 })] });
    });
    await on.settle([joined(right)], (_key, state) => {
      states.push(state);
      return newTransition();
    });
    expect(states[0]!.stageRuns.find(({ key }) => key === 'left')).toMatchObject({ visit: 1, outcome: 'approved' });
    const visits = states[1]!.stageRuns.map(({ key, visit, status, outcome }) => [key, visit, status, outcome]);
    expect(visits).toEqual([
      ['fork', 1, 'COMPLETED', null],
      ['left', 1, 'COMPLETED', 'approved'],
      ['right', 1, 'COMPLETED', null],
      ['left', 2, 'PENDING', null],
    ]);
  });

  it('GRAPH-4: a record takes the nodes along that its run passes on its way, and the visit that follows can be handed off', async (on) => {
    const run = await on.start();
    const job = await on.claimOne();
    const went = { kind: 'completed', output: '"\\u0000"', outcome: 'yes' } as const;
    const next = newStageRun({ key: job.stageRun.key, visit: 2, ordinal: 4 });
    const stageRuns = [
      newStageRun({ key: 'large', ordinal: 2, status: 'COMPLETED', output: 'true', outcome: 'true' }),
      newStageRun({ key: 'rare', ordinal: 3, status: 'SKIPPED', skipReason: 'when', outcome: 'skipped' }),
      next,
    ];
    const handOff = { token: newId(), workerId: 'me', queues: null };
    const record = linear(job, { outcome: went, transition: newTransition({ stageRuns }), handOff });
    expect(await on.store.record([record])).toEqual([{ verdict: 'recorded', handedOff: true, finished: null }]);
    const history = await on.store.history(run.id, EVERYBODY);
    const rows = history!.stageRuns.map(({ key, visit, status, output, outcome }) => [
      key,
      visit,
      status,
      output,
      outcome,
    ]);
    expect(rows.sort()).toEqual(
      [
        [job.stageRun.key, 1, 'COMPLETED', '"\\u0000"', 'yes'],
        [job.stageRun.key, 2, 'RUNNING', null, null],
        ['large', 1, 'COMPLETED', 'true', 'true'],
        ['rare', 1, 'SKIPPED', null, 'skipped'],
      ].sort(),
    );
    // As the lease is known by: the same row of the queue, another stage run, the token that was proposed.
    const lease = { ...leaseOf(job), stageRunId: next.id, token: handOff.token };
    expect(await on.store.extendLeases([lease])).toEqual(new Map([[job.jobId, 'held']]));
    // A second record of the first attempt is fenced out, with all that it would bring.
    const late = linear(job, { transition: newTransition({ stageRuns: [newStageRun({ key: 'late', ordinal: 5 })] }) });
    expect(await on.store.record([late])).toEqual([{ verdict: 'not-fenced' }]);
    expect((await on.store.history(run.id, EVERYBODY))!.stageRuns).toHaveLength(4);
  });

  it('GRAPH-4: a run may end at a node that no worker is needed for', async (on) => {
    const run = await on.start();
    const job = await on.claimOne();
    const stageRuns = [newStageRun({ key: 'end', ordinal: 2, status: 'COMPLETED', output: '"paid"', outcome: 'paid' })];
    const transition = newTransition({ stageRuns, run: { to: 'COMPLETED', output: '"paid"' } });
    const [verdict] = await on.store.record([linear(job, { transition })]);
    expect(verdict).toMatchObject({ verdict: 'recorded', finished: { runId: run.id, status: 'COMPLETED' } });
    expect(await on.run(run.id)).toMatchObject({ status: 'COMPLETED', output: '"paid"' });
    expect(await on.statuses(run.id)).toEqual([`${job.stageRun.key} COMPLETED`, 'end COMPLETED']);
    expect(await on.isAnythingDue()).toBe(false);
  });

  it('GRP-2: ends of one call are given at once, from the rows as they are after all of them', async (on) => {
    const [left, right] = await claimBranches(on);
    const asked: string[][] = [];
    await on.settle([joined(left), joined(right)], (_key, state, events) => {
      const open = state.stageRuns.filter(({ status }) => status !== 'COMPLETED');
      asked.push([...events.map((event) => ('node' in event ? event.node : event.type)), `${open.length} open`]);
      return newTransition();
    });
    expect(
      asked
        .flat()
        .filter((text) => !text.endsWith('open'))
        .sort(),
    ).toEqual(['left', 'right']);
    expect(asked.at(-1)!.at(-1)).toBe('0 open');
  });

  it('CANCEL-2: a branch that nobody waits for is cancelled alone, its body is told, and what it brings is dropped', async (on) => {
    const [left, right] = await claimBranches(on);
    await on.settle([joined(left)], () => leaving(right, { stageRuns: [newStageRun({ key: 'next', ordinal: 4 })] }));
    expect(await on.statuses(left.run.id)).toEqual([
      'fork COMPLETED',
      'left COMPLETED',
      'right CANCELLED',
      'next PENDING',
    ]);
    expect((await on.run(left.run.id)).status).toBe('RUNNING');
    expect(await on.store.extendLeases([leaseOf(right)])).toEqual(new Map([[right.jobId, 'cancelled']]));
    expect(await on.settle([joined(right)], () => newTransition())).toEqual([{ verdict: 'not-fenced' }]);
    expect((await on.claimOne()).stageRun.key).toBe('next');
  });

  it('ESC-1: a visit that was left by an edge where the run failed in the same breath keeps the edge', async (on) => {
    const [left, right] = await claimBranches(on);
    const failure = { code: 'EXPRESSION_FAILED', message: 'no', params: null, node: 'left' } as const;
    const cancelled = [right.stageRun.id];
    await on.settle([joined(left)], () =>
      newTransition({
        ...{ run: { to: 'FAILED', failure }, cancelOpen: true },
        ...{ cancelled, leftBy: { [right.stageRun.id]: 'late' } },
      }),
    );
    const history = await on.store.history(left.run.id, EVERYBODY);
    expect(history!.stageRuns.map(({ key, status, outcome }) => [key, status, outcome])).toEqual([
      ['fork', 'COMPLETED', null],
      ['left', 'COMPLETED', null],
      ['right', 'CANCELLED', 'late'],
    ]);
  });

  it('CANCEL-2: one that is queued is never begun', async (on) => {
    const run = await on.start({ transition: branches() });
    const first = await on.claimOne();
    const history = await on.store.history(run.id, EVERYBODY);
    const other = history!.stageRuns.find(({ status }) => status === 'PENDING')!;
    await on.settle([joined(first)], () => newTransition({ cancelled: [other.id] }));
    expect(await on.isAnythingDue()).toBe(false);
  });

  it('WAIT-2: one that sleeps loses its waits, those of other branches stay', async (on) => {
    const [left, right] = await claimBranches(on);
    await on.suspend(suspending(right, [sleep('nap', 60_000), signalWait('call')]));
    await on.settle([joined(left)], () => leaving(right));
    expect((await on.step(right, 'nap')).status).toBe('cancelled');
    expect((await on.step(right, 'call')).status).toBe('cancelled');
    on.travel(3_600_000);
    await on.store.fireDue(100, 0);
    expect(await on.isAnythingDue()).toBe(false);
    expect((await on.statuses(left.run.id))[2]).toBe('right CANCELLED');
  });

  it('CANCEL-3: children that it waits for are to be cancelled, those of other branches are not', async (on) => {
    const [left, right] = await claimBranches(on);
    const ofLeft = await on.startAndClaim({ parent: parentOf(left) });
    const ofRight = await on.startAndClaim({ parent: parentOf(right) });
    await on.suspend(suspending(right, [childWait('child', ofRight.run.id)]));
    await on.settle([joined(left)], () => leaving(right));
    const orphans = (await on.store.findOrphans(100)).map(({ runId }) => runId);
    expect(orphans).toContain(ofRight.run.id);
    expect(orphans).not.toContain(ofLeft.run.id);
  });
}
