import { ProgressTally } from '../../../sample/01-documents/progress/progress-tally.js';

describe('ProgressTally', () => {
  const tallyOf = (...runIds: string[]): ProgressTally => {
    const tally = new ProgressTally(['read', 'report']);
    for (const runId of runIds) tally.track(runId);
    return tally;
  };
  const stage = (tally: ProgressTally, id: string) => tally.progress().stages.find((one) => one.id === id);

  it('counts runs and stages', () => {
    const tally = tallyOf('a', 'b', 'c');
    tally.noteStage('a', 'read', 'running');
    tally.noteStage('b', 'read', 'completed');
    tally.noteStage('b', 'report', 'retrying');
    tally.noteRun('c', 'failed');
    expect(tally.progress()).toMatchObject({ documents: 3, completed: 0, failed: 1, cancelled: 0 });
    expect(stage(tally, 'read')).toEqual({ id: 'read', running: 1, retrying: 0, completed: 1, failed: 0 });
    expect(stage(tally, 'report')).toMatchObject({ running: 0, retrying: 1 });
  });

  it('keeps what was told of a run before it was tracked', () => {
    const tally = tallyOf();
    tally.noteRun('a', 'completed');
    expect(tally.progress().documents).toBe(0);
    tally.track('a');
    expect(tally.progress()).toMatchObject({ documents: 1, completed: 1 });
  });

  it('is not changed by an event that comes twice, or late', () => {
    const tally = tallyOf('a');
    tally.noteStage('a', 'read', 'completed');
    tally.noteStage('a', 'read', 'running');
    tally.noteRun('a', 'completed');
    tally.noteRun('a', 'running');
    expect(stage(tally, 'read')).toMatchObject({ running: 0, completed: 1 });
    expect(tally.progress().completed).toBe(1);
  });

  it('shows no stage running in a run that is over', () => {
    const tally = tallyOf('a');
    tally.noteStage('a', 'report', 'running');
    tally.noteRun('a', 'cancelled');
    expect(stage(tally, 'report')).toMatchObject({ running: 0 });
  });

  it('opens a failed run again when it is retried, and keeps its completed stages', () => {
    const tally = tallyOf('a');
    tally.noteStage('a', 'read', 'completed');
    tally.noteStage('a', 'report', 'failed');
    tally.noteRun('a', 'failed');
    tally.reopen('a');
    expect(tally.progress()).toMatchObject({ failed: 0 });
    expect(stage(tally, 'read')).toMatchObject({ completed: 1 });
    expect(stage(tally, 'report')).toMatchObject({ failed: 0 });
    tally.noteStage('a', 'report', 'completed');
    expect(stage(tally, 'report')).toMatchObject({ completed: 1 });
  });
});
