import { decideRerun } from '../../../../lib/engine/state/decide-rerun.js';
import type { StageRunState } from '../../../../lib/engine/state/rows.js';
import { RUN_STATUSES } from '../../../../lib/engine/state/statuses.js';
import { definition, parallel, single, stage } from '../../../support/definitions.js';
import { context, stageRun, state } from './support/run-states.js';

describe('decideRerun', () => {
  const line = definition([single(0, stage('a')), single(1, stage('b')), single(2, stage('c'))]);
  const done = [
    stageRun('a', { ordinal: 1, output: '{"a":1}' }),
    stageRun('b', { ordinal: 2, output: '{"b":1}' }),
    stageRun('c', { ordinal: 3 }),
  ];
  const rerun = (
    node: string,
    rows: StageRunState[] = done,
    { of = line, ...more }: { of?: typeof line } & Partial<Parameters<typeof state>[1]> = {},
  ) => decideRerun(of, state(rows, { status: 'COMPLETED', ...more }), node, context());

  it('RUN-5: keeps what stands before the node, and enters it in a new generation with the output before it', () => {
    const seen: unknown[] = [];
    const asking = definition([
      single(0, stage('a')),
      single(1, stage('b', { when: ({ input }) => (seen.push(input), true) })),
    ]);
    const decision = rerun('b', done.slice(0, 2), { of: asking, generation: 4 });
    expect(decision).toMatchObject({
      node: 'b',
      generation: 5,
      transition: {
        run: { to: 'RUNNING' },
        rerun: { kept: ['sr-a'] },
        stageRuns: [{ key: 'b', status: 'PENDING', visit: 1, ordinal: 3, job: { queue: 'default' } }],
        events: [{ type: 'run:retried', data: { node: 'b', generation: 5, rerun: true } }],
      },
    });
    expect(seen).toEqual([{ a: 1 }]);
  });

  it('RUN-5: from the first node nothing is kept, and the input is the run’s', () => {
    const seen: unknown[] = [];
    const asking = definition([single(0, stage('a', { when: ({ input }) => (seen.push(input), true) }))]);
    expect(rerun('a', [done[0]!], { of: asking })).toMatchObject({ transition: { rerun: { kept: [] } } });
    expect(seen).toEqual([{ n: 1 }]);
  });

  it.each(RUN_STATUSES)('RUN-5: from %s, if that is an end', (status) => {
    const decision = rerun('c', done, { status });
    if (status === 'PENDING' || status === 'RUNNING') expect(decision).toEqual({ refused: expect.any(String) });
    else expect(decision).toMatchObject({ transition: { run: { to: 'RUNNING' }, rerun: { kept: ['sr-a', 'sr-b'] } } });
  });

  it('RUN-5: a branch means its node, whose branches are all entered anew', () => {
    const group = definition([single(0, stage('a')), parallel(1, stage('x'), stage('y'))]);
    const rows = [
      done[0]!,
      stageRun('x', { node: 'parallel-1', status: 'FAILED' }),
      stageRun('y', { node: 'parallel-1', status: 'CANCELLED' }),
    ];
    expect(rerun('y', rows, { of: group, status: 'FAILED' })).toMatchObject({
      node: 'parallel-1',
      transition: {
        rerun: { kept: ['sr-a'] },
        stageRuns: [{ key: 'x' }, { key: 'y' }],
        visits: [{ node: 'parallel-1', open: 2 }],
      },
    });
  });

  it('RUN-5: skipped stages count as done; the node after them begins with nothing', () => {
    const rows = [stageRun('a', { status: 'SKIPPED', output: null })];
    expect(rerun('b', rows, { status: 'CANCELLED' })).toMatchObject({ transition: { stageRuns: [{ key: 'b' }] } });
  });

  it('RUN-5: what is then skipped to the end completes the run again', () => {
    const skipping = definition([single(0, stage('a')), single(1, stage('b', { when: () => false }))]);
    expect(rerun('b', done.slice(0, 2), { of: skipping })).toMatchObject({
      transition: { run: { to: 'COMPLETED' }, rerun: { kept: ['sr-a'] } },
    });
  });

  it.each([
    ['a node that there is not', 'bb', done, {}, /no node bb.*Did you mean b\?/],
    ['a name like none', 'something', done, {}, /There are a, b, c\./],
    ['a node that was never reached', 'c', done.slice(0, 1), {}, /never got to c: b.*Rerun it from b\./],
    ['a node after the one that failed', 'c', [done[0]!, stageRun('b', { status: 'FAILED' })], {}, /Rerun it from b\./],
    [
      'a run past its limit',
      'b',
      done,
      { of: { ...line, settings: { ...line.settings, maxStageRuns: 3 } } },
      /maxStageRuns/,
    ],
  ] as const)('RUN-5: %s is refused, saying why', (_case, node, rows, more, why) => {
    expect(rerun(node, [...rows], more)).toEqual({ refused: expect.stringMatching(why) });
  });

  it('RUN-5: what this build does not serve is refused', () => {
    expect(decideRerun(undefined, state(done, { status: 'FAILED' }), 'a', context())).toEqual({
      refused: expect.stringContaining('does not serve'),
    });
  });
});
