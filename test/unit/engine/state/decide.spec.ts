import type { FailureRecord } from '../../../../lib/engine/codec/failure-record.js';
import { definition, parallel, single, stage } from '../../../support/definitions.js';
import {
  decideCancel,
  decideNext,
  decideRetry,
  decideSettled,
  decideStart,
  decideStuck,
  decideTimeout,
} from '../../../../lib/engine/state/decide.js';
import type { RunState, StageRunState } from '../../../../lib/engine/state/rows.js';
import { context, run, stageRun, state } from './support/run-states.js';

const failure: FailureRecord = { code: 'EXCEPTION', name: 'Error', message: 'no', retryable: true };

describe('decide', () => {
  const line = definition([single(0, stage('a')), single(1, stage('b'))]);

  it('RUN-1: a start enters the first node and tells it', () => {
    const { stageRuns, events, run: change } = decideStart(line, run(), false, context());
    expect(stageRuns).toMatchObject([{ key: 'a', status: 'PENDING', ordinal: 1, job: { queue: 'default' } }]);
    expect(events.map((event) => event.type)).toEqual(['run:started']);
    expect(change).toBeNull();
  });

  it('RUN-1: a delayed start tells run:started only when it becomes due', () => {
    expect(decideStart(line, run(), true, context()).events).toEqual([]);
  });

  it("RUN-3: the last output is the run's output", () => {
    expect(decideNext(line, run(), 'b', '{"x":0}', context()).run).toEqual({ to: 'COMPLETED', output: '{"x":0}' });
  });

  it("RUN-6: a queue is the stage's, else the run's, else the definition's, else the module's", () => {
    const queued = (own: string | null, ofRun: string | null, ofDefinition: string | null) =>
      decideStart(
        definition([single(0, stage('a', { queue: own }))], { queue: ofDefinition }),
        run({ queue: ofRun }),
        false,
        context(),
      ).stageRuns[0]!.job!.queue;
    expect([queued('s', 'r', 'd'), queued(null, 'r', 'd'), queued(null, null, 'd'), queued(null, null, null)]).toEqual([
      's',
      'r',
      'd',
      'default',
    ]);
  });

  it('GRP-1: entering a group opens every branch and counts them', () => {
    const { stageRuns, visits } = decideStart(
      definition([parallel(0, stage('a'), stage('b'))]),
      run(),
      false,
      context(),
    );
    expect(stageRuns.map(({ key, ordinal }) => [key, ordinal])).toEqual([
      ['a', 1],
      ['b', 2],
    ]);
    expect(visits).toEqual([{ node: 'parallel-0', visit: 1, open: 2 }]);
  });

  it('GRP-2: a settled group goes on once, with an object of its outputs', () => {
    const group = definition([parallel(0, stage('a'), stage('b'))]);
    const branches = [
      stageRun('a', { node: 'parallel-0', output: '0' }),
      stageRun('b', { node: 'parallel-0', output: '"\\u0000"' }),
    ];
    const { run: change } = decideSettled(
      group,
      state(branches),
      [{ type: 'node-settled', node: 'parallel-0', visit: 1 }],
      context(),
    );
    expect(change).toEqual({ to: 'COMPLETED', output: '{"a":0,"b":"\\u0000"}' });
  });

  it('GRP-4: a branch that was skipped is absent; a single one hands on undefined', () => {
    const seen: unknown[] = [];
    const skipping = definition([
      single(0, stage('a', { when: () => false })),
      single(1, stage('b', { when: ({ input }) => (seen.push(input), true) })),
    ]);
    const { stageRuns } = decideStart(skipping, run(), false, context());
    expect(stageRuns.map(({ key, status }) => [key, status])).toEqual([
      ['a', 'SKIPPED'],
      ['b', 'PENDING'],
    ]);
    expect(seen).toEqual([undefined]);
    const group = definition([parallel(0, stage('a'), stage('b'))]);
    const branches = [
      stageRun('a', { node: 'parallel-0' }),
      stageRun('b', { node: 'parallel-0', status: 'SKIPPED', output: null }),
    ];
    expect(
      decideSettled(group, state(branches), [{ type: 'node-settled', node: 'parallel-0', visit: 1 }], context()).run,
    ).toEqual({ to: 'COMPLETED', output: '{"a":1}' });
  });

  it('GRP-4: a run whose every stage is skipped completes with null', () => {
    const { run: change, events } = decideStart(
      definition([single(0, stage('a', { when: () => false }))]),
      run(),
      false,
      context(),
    );
    expect(change).toEqual({ to: 'COMPLETED', output: 'null' });
    expect(events.map((event) => event.type)).toEqual(['run:started', 'stage:skipped', 'run:completed']);
  });

  it('FAULT A13: a condition sees falsy outputs as the values they are', () => {
    const seen: unknown[] = [];
    const asking = definition([
      single(0, stage('a')),
      single(1, stage('b', { when: ({ input }) => (seen.push(input), true) })),
    ]);
    for (const output of ['0', '""', 'false', 'null']) decideNext(asking, run(), 'a', output, context());
    expect(seen).toEqual([0, '', false, null]);
  });

  it("FAIL-1: a condition that throws fails the run with the stage's name, its other branches never begin", () => {
    const throwing = stage('b', {
      when: () => {
        throw new Error('bad');
      },
    });
    const { run: change, stageRuns } = decideNext(
      definition([single(0, stage('x')), parallel(1, stage('a'), throwing)]),
      run(),
      'x',
      '1',
      context(),
    );
    expect(change).toMatchObject({ to: 'FAILED', failure: { code: 'CONDITION_FAILED', node: 'b' } });
    expect(stageRuns.map(({ key, status }) => [key, status])).toEqual([['b', 'FAILED']]);
  });

  it('LIMIT-1: a node that would exceed the stage runs of a run fails it, naming limit and value', () => {
    const { run: change } = decideNext(
      definition([single(0, stage('a')), single(1, stage('b'))], { maxStageRuns: 1 }),
      run(),
      'a',
      '1',
      context(),
    );
    expect(change).toMatchObject({
      to: 'FAILED',
      failure: { code: 'STEP_LIMIT_EXCEEDED', message: expect.stringMatching(/maxStageRuns.*1/) },
    });
  });

  it('GRP-3: a terminal failure fails the run and cancels what is open, with hooks for what had begun', () => {
    const group = definition([
      parallel(0, stage('a'), stage('b', { hasCancelHook: true }), stage('c', { hasCancelHook: true })),
    ]);
    const rows = [
      stageRun('a', { node: 'parallel-0', status: 'FAILED' }),
      stageRun('b', { node: 'parallel-0', status: 'RUNNING' }),
      stageRun('c', { node: 'parallel-0', status: 'PENDING', attempt: 0 }),
    ];
    const transition = decideSettled(
      group,
      state(rows),
      [{ type: 'stage-failed', stageRunId: 'sr-a', key: 'a', failure }],
      context(),
    );
    expect(transition.run).toMatchObject({ to: 'FAILED', failure: { code: 'EXCEPTION', node: 'a' } });
    expect(transition.cancelOpen).toBe(true);
    expect(transition.cancelJobs.map(({ stageRunId }) => stageRunId)).toEqual(['sr-b']);
  });

  it('CANCEL-1: a run that has ended has nothing to cancel', () => {
    expect(decideCancel(line, state([], { status: 'COMPLETED' }), null, true, context())).toBeUndefined();
    expect(decideCancel(line, state([stageRun('a', { status: 'RUNNING' })]), 'why', true, context())).toMatchObject({
      run: { to: 'CANCELLED', reason: 'why', terminated: false },
      cancelOpen: true,
    });
  });

  it('CANCEL-4: terminate calls no hooks; a deadline fails the run RUN_TIMEOUT with the same cascade', () => {
    const hooked = definition([single(0, stage('a', { hasCancelHook: true }))]);
    const live = state([stageRun('a', { status: 'RUNNING' })]);
    expect(decideCancel(hooked, live, null, false, context())!.cancelJobs).toEqual([]);
    expect(decideCancel(hooked, live, null, true, context())!.cancelJobs).toHaveLength(1);
    expect(decideTimeout(hooked, live, context())).toMatchObject({
      run: { to: 'FAILED', failure: { code: 'RUN_TIMEOUT' } },
      cancelOpen: true,
    });
    expect(decideTimeout(hooked, state([], { status: 'COMPLETED' }), context())).toBeUndefined();
  });

  it('RETRY-5: a manual retry opens the failed and the cancelled branches again, completed ones stay', () => {
    const group = definition([parallel(0, stage('a'), stage('b'), stage('c'))]);
    const rows = [
      stageRun('a', { node: 'parallel-0' }),
      stageRun('b', { node: 'parallel-0', status: 'FAILED' }),
      stageRun('c', { node: 'parallel-0', status: 'CANCELLED' }),
    ];
    const decision = decideRetry(group, state(rows, { status: 'FAILED' }), 'b', context());
    expect(decision).toMatchObject({
      transition: {
        run: { to: 'RUNNING' },
        reopened: [{ id: 'sr-b' }, { id: 'sr-c' }],
        visits: [{ open: 2 }],
        events: [{ type: 'run:retried' }],
      },
    });
  });

  it('RETRY-5: branches that waited when another failed are opened again, ready to be claimed', () => {
    const group = definition([
      parallel(0, stage('a', { queue: 'slow' }), stage('b'), stage('c', { timeoutMs: 1_000 })),
    ]);
    const waiting = [
      stageRun('a', { node: 'parallel-0', status: 'SUSPENDED' }),
      stageRun('b', { node: 'parallel-0', status: 'FAILED' }),
      stageRun('c', { node: 'parallel-0', status: 'RUNNING' }),
    ];
    const event = [{ type: 'stage-failed', stageRunId: 'sr-b', key: 'b', failure }] as const;
    const failing = decideSettled(group, state(waiting), event, context());
    expect(failing).toMatchObject({ run: { to: 'FAILED', failure: { node: 'b' } }, cancelOpen: true });
    const cancelled = waiting.map(
      (row) => ({ ...row, status: row.status === 'FAILED' ? row.status : 'CANCELLED' }) as const,
    );
    expect(decideRetry(group, state(cancelled, { status: 'FAILED' }), 'b', context())).toMatchObject({
      transition: {
        run: { to: 'RUNNING' },
        reopened: [
          { id: 'sr-a', job: { queue: 'slow' } },
          { id: 'sr-b', job: { queue: 'default' } },
          { id: 'sr-c', job: { capMs: 61_000 } },
        ],
        visits: [{ node: 'parallel-0', open: 3 }],
        stageRuns: [],
      },
    });
  });

  it('RETRY-5: a group that a condition kept from being entered whole is refused, since a rerun enters it', () => {
    const group = definition([parallel(0, stage('a'), stage('b', { when: () => true }))]);
    const rows = [stageRun('b', { node: 'parallel-0', status: 'FAILED', attempt: 0 })];
    expect(decideRetry(group, state(rows, { status: 'FAILED' }), 'b', context())).toEqual({
      refused: expect.stringMatching(/Rerun it from parallel-0/),
    });
  });

  it('RETRY-5: what did not fail on a stage is refused, saying what to do', () => {
    const refused = (rows: StageRunState[], more: Partial<RunState>) =>
      decideRetry(line, state(rows, more), null, context());
    expect(refused([], { status: 'CANCELLED' })).toEqual({ refused: expect.stringContaining('cancelled') });
    expect(refused([], { status: 'COMPLETED' })).toEqual({ refused: expect.stringContaining('completed') });
    expect(refused([], { status: 'RUNNING' })).toEqual({ refused: expect.stringContaining('not ended') });
    expect(refused([stageRun('a')], { status: 'FAILED' })).toEqual({
      refused: expect.stringContaining('Start it again'),
    });
  });

  it("STUCK-1: a lost job is put back once, then the run fails with its stages' statuses", () => {
    const lost = decideStuck(line, state([stageRun('a', { status: 'PENDING', attempt: 0 })]), '15m', context());
    expect(lost).toMatchObject({ requeued: 1, transition: { requeued: [{ id: 'sr-a' }], run: null } });
    const again = decideStuck(line, state([stageRun('a', { status: 'PENDING', requeues: 1 })]), '15m', context());
    expect(again.transition.run).toMatchObject({
      to: 'FAILED',
      failure: { code: 'STUCK_RUN_REAPED', message: expect.stringContaining('a PENDING') },
    });
    expect(decideStuck(line, state([stageRun('a')]), '15m', context()).transition.run).toMatchObject({ to: 'FAILED' });
  });
});
