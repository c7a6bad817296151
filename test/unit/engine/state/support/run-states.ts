import type { DecideContext } from '../../../../../lib/engine/state/deciding.js';
import type { RunState, StageRunState } from '../../../../../lib/engine/state/rows.js';

/** Ids that are counted, and the module's queue. */
export const context = (): DecideContext => {
  let ids = 0;
  return { nextId: () => `id-${(ids += 1)}`, defaultQueue: 'default' };
};
export const run = (more = {}) => ({ id: 'run', queue: null, input: '{"n":1}', stageRunCount: 1, ...more });
export const stageRun = (key: string, more: Partial<StageRunState> = {}): StageRunState => ({
  id: `sr-${key}`,
  node: key,
  key,
  stage: key,
  visit: 1,
  status: 'COMPLETED',
  attempt: 1,
  ordinal: 1,
  requeues: 0,
  output: '1',
  ...more,
});
export const state = (stageRuns: StageRunState[], more: Partial<RunState> = {}): RunState => ({
  id: 'run',
  status: 'RUNNING',
  generation: 1,
  priority: 0,
  queue: null,
  input: '{"n":1}',
  stageRuns,
  stageRunCount: stageRuns.length,
  ...more,
});
