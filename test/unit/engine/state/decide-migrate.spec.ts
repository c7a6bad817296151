import { decideMigrate } from '../../../../lib/engine/state/decide-migrate.js';
import type { RunState, StageRunState } from '../../../../lib/engine/state/rows.js';
import { definition, parallel, single, stage } from '../../../support/definitions.js';
import { stageRun, state } from './support/run-states.js';

describe('decideMigrate', () => {
  const target = {
    ...definition([
      single(0, stage('a')),
      parallel(1, stage('x'), stage('y')),
      single(2, stage('between')),
      single(3, stage('b')),
    ]),
    version: 2,
  };
  const migrate = (rows: StageRunState[], more: Partial<RunState> = {}) =>
    decideMigrate(target, 'd@2#f', state(rows, more));
  const x = stageRun('x', { node: 'parallel-1', ordinal: 2 });
  const y = stageRun('y', { node: 'parallel-1', ordinal: 3, status: 'SUSPENDED' });

  it.each([
    ['waits', 'RUNNING', [stageRun('a'), x, y]],
    ['has not begun', 'PENDING', [stageRun('a', { status: 'PENDING' })]],
    ['has failed', 'FAILED', [stageRun('a', { status: 'FAILED' })]],
  ] as const)('VER-1: a run that %s goes over, nothing else of it changes', (_case, status, rows) => {
    expect(migrate([...rows], { status })).toEqual({
      transition: expect.objectContaining({
        migrate: { version: 2, definitionKey: 'd@2#f' },
        run: null,
        stageRuns: [],
        reopened: [],
        events: [],
        cancelOpen: false,
      }),
    });
  });

  it('VER-1: all that the target lacks is told at once', () => {
    const rows = [stageRun('gone'), stageRun('a', { stage: 'other' }), x, stageRun('z', { node: 'parallel-1' })];
    const { refused } = migrate(rows) as { refused: string };
    expect(refused).toMatch(/no node gone/);
    expect(refused).toMatch(/node a holds a; the run has been at a \(other\)/);
    expect(refused).toMatch(/parallel-1 holds x, y; the run has been at x, z/);
  });

  it('VER-1: nodes in another order are refused', () => {
    expect(migrate([stageRun('b'), stageRun('a', { status: 'SUSPENDED' })])).toEqual({
      refused: expect.stringContaining('another order'),
    });
  });

  it('VER-1: while a stage runs, its outcome leads on by the version it began with', () => {
    expect(migrate([stageRun('a', { status: 'RUNNING' })])).toEqual({ refused: expect.stringMatching(/a is running/) });
    expect(
      migrate([
        { ...x, status: 'RUNNING' },
        { ...y, status: 'RUNNING' },
      ]),
    ).toEqual({
      refused: expect.stringMatching(/x, y are running/),
    });
  });

  it.each(['COMPLETED', 'CANCELLED'] as const)('VER-1: %s is an end', (status) => {
    expect(migrate([stageRun('a')], { status })).toEqual({ refused: expect.stringContaining('ended') });
  });
});
